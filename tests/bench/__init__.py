"""How fast it is, against floors measured in the same run: `make bench`. docs/bench.md says what each figure means.

`measures` start what is measured, as processes of their own; `inside` is what runs in those that have Django.
"""
