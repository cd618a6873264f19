package iceberglite.sim

/**
 * Checks that acknowledged commits were applied exactly once, that failed commits were not applied, and that commits
 * with an unknown outcome were applied completely or not at all.
 */
object Outcomes extends Check {
  override def name: String = "the outcomes reported to writers are true"

  override def violations(history: CheckedHistory): Vector[String] =
    history.chain.steps.flatMap { step =>
      history.authors(step).left.toSeq.map(reason => s"${step.after.location} $reason")
    } ++ history.finished.operations.flatMap(o => violation(history, o).map(reason => s"$o $reason"))

  private def violation(history: CheckedHistory, operation: Operation): Option[String] = {
    val steps = history.stepsOf(operation)
    val times = steps.size
    val partialCommit = steps.flatMap(incomplete(_, operation)).headOption
    operation.outcome match {
      case _ if times > 1 => Some(s"was applied $times times: ${steps.map(_.after.location).mkString(", ")}")
      case _ if partialCommit.isDefined => partialCommit
      case Outcome.Failed(error) if times > 0 => Some(s"was applied, although it failed with $error")
      case Outcome.Acknowledged(version) if !history.chain.indexOf.contains(version.metadataLocation) =>
        Some(s"was acknowledged with ${version.metadataLocation}, which the table never had")
      case Outcome.Acknowledged(version) =>
        steps.headOption.fold(missing(history, operation, version.metadataLocation)) { step =>
          val afterStep = history.chain.indexOf(step.after.location) > history.chain.indexOf(version.metadataLocation)
          if (afterStep) Some("was acknowledged with a version older than its commit") else None
        }
      case _ => None
    }
  }

  /**
   * Returns a description of what is missing in a step that an operation committed: a snapshot for an effect that
   * requires one, or a planned metadata change that creates no snapshot.
   */
  private def incomplete(step: Step, operation: Operation): Option[String] = operation.plan.flatMap { plan =>
    val fewest = plan.effects.count(!_.mayChangeNothing)
    if (step.added.size > plan.effects.size || step.added.size < fewest) {
      Some(s"created ${step.added.size} snapshots, not ${plan.effects.size}")
    } else if (!plan.hasChanges(step.after.metadata)) Some(s"is not visible in ${step.after.location}")
    else None
  }

  /**
   * Checks an acknowledged operation that committed no step. All its effects must be allowed to change nothing, and
   * they must not change the rows of the acknowledged version.
   */
  private def missing(history: CheckedHistory, operation: Operation, location: String): Option[String] = {
    val metadata = history.chain.versions(history.chain.indexOf(location)).metadata
    val rows = metadata.currentSnapshot.fold(Rows.None)(history.reader.rows(metadata, _))
    val hadNoEffect = operation.plan.exists { plan =>
      plan.effects.forall(_.mayChangeNothing) && plan.hasChanges(metadata) &&
      plan.effects.foldLeft(rows)((r, e) => e.after(r, history.finished.contents)) == rows
    }
    if (hadNoEffect) None else Some(s"is lost: neither $location nor any other version contains it")
  }
}
