package iceberglite.table

/** Runs the clean-up in the thread of the commit, so that each commit waits for it. */
object CleanupInCommit extends CommitCleanup {
  override def run(what: String)(work: => Unit): Unit = Cleanup.quietly(what)(work)
  override def await(): Unit = ()
}
