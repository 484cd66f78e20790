"""What a shell is told when a command ends."""

#: Of a command that a signal has ended: this and the number of the signal.
SIGNALLED = 128
#: Of one that Ctrl-C has ended.
INTERRUPTED = 130
