"""What all writers and readers of files share: names, whole files, folders of ours, plain data, trusted folders.

Not known here: mechanisms, equations and time. Every layer may use it; it uses none of them.

``names``
    Check the name of a file or a folder before anything is computed.
``whole``
    Write a file beside its place and rename it: no truncated file ever has the final name.
``folder``
    A folder that belongs to one run or study: marked, locked, without links.
``plain``
    Numbers, texts, arrays, lists and dictionaries as bytes and back. Nothing in them is ever executed.
``trusted``
    Whether only this user can write to a folder from which machine code is loaded.
"""
