package iceberglite.spark.write

import iceberglite.spark.maintenance.AutoCompaction

/** The registry of maintenance after commits. */
private[write] object CommitFollowUps {
  val all: Seq[CommitFollowUp] = Seq(AutoCompaction)
}
