"""The language server: what an editor asks about a model that is being written.

mentions    which names stand where in a file, and how each is to be looked up
symbols     what a name means: a class, a component, a member of a basic element
project     open texts, their trees, diagnostics, the flat graph of what can be run
answers     hover, definition, completion, outline, rename, quick fixes: plain data, no protocol
server      the protocol (pygls)
"""
