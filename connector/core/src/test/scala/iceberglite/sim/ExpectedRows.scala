package iceberglite.sim

import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/** Checks that every snapshot has the rows that follow from its [[Effect]], and that the commit was valid. */
object ExpectedRows extends Check {
  override def name: String = "each snapshot has the rows that its operation produces"

  override def violations(history: CheckedHistory): Vector[String] = history.chain.steps.flatMap { step =>
    val operation = history.authors(step).right.get
    val effects = operation.plan.fold(Vector.empty[Effect])(_.effects)
    // Some effects create no snapshot if they change no rows. If there are fewer snapshots than effects, the check
    // assumes that none of these effects has created a snapshot.
    step.added.zip(if (step.added.size == effects.size) effects else effects.filterNot(_.mayChangeNothing)).flatMap {
      case (snapshot, effect) => violationsOf(history, step.after.metadata, snapshot, operation, effect)
    }
  }

  private def violationsOf(
      history: CheckedHistory,
      metadata: TableMetadata,
      snapshot: Snapshot,
      operation: Operation,
      effect: Effect
  ): Vector[String] = {
    val parent = snapshot.parentSnapshotId.map(metadata.snapshot)
    val before = parent.fold(Rows.None)(history.reader.rows(metadata, _))
    val read = operation.base.metadata.currentSnapshot.fold(Rows.None)(history.reader.rows(metadata, _))
    val expected = effect.after(before, history.finished.contents)
    val found = history.reader.rows(metadata, snapshot)
    val differs =
      if (found == expected) None
      else Some(s"has the rows ${found.live}, not ${expected.live}; its parent has ${before.live}")
    (differs.toVector ++ effect.objection(read, before, history.finished.contents).map(o =>
      s"should have been rejected: $o"
    ))
      .map(reason => s"snapshot ${snapshot.snapshotId} of $operation $reason")
  }
}
