"""The result cache: reuse a file's findings while its dependencies are unchanged.

The result of one file depends on its bytes and on what is asked of it; on kdoctor itself; and, by
its imports, on other files and on what lies in folders. All of these are noted while it is made
(:mod:`~kdoctor.modules.dependencies`), and a result is used again only where each of them is what
it was: by its size, times and inode, else by its content.
"""
