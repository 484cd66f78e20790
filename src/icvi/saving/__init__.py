"""States as files: the container, values as JSON, checked reading, and the kinds of states.

What is saved of a class stands beside the class: see the table in `kinds`.
"""
