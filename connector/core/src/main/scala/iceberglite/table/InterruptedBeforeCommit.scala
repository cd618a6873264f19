package iceberglite.table

/** An interrupt that ended a commit which certainly did not change the table. The caller may delete its data files. */
final class InterruptedBeforeCommit(cause: InterruptedException)
    extends InterruptedException("The thread was interrupted before the commit. The table did not change") {
  initCause(cause)
}
