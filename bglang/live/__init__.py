"""The live page: a model drawn, plotted and varied in a browser on this machine.

session   the model behind the page: read again when its files change, run with other values, one run at a time
server    HTTP on the loopback interface, for who knows the token
page.*    the page itself; it needs nothing from any other machine
"""
