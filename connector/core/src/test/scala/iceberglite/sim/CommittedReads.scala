package iceberglite.sim

/** Checks that every load returns a committed version that contains all commits acknowledged before the load began. */
object CommittedReads extends Check {
  override def name: String = "readers load committed versions that include all acknowledged commits"

  override def violations(history: CheckedHistory): Vector[String] = {
    val acknowledgements = history.finished.operations.collect {
      case Operation(id, _, _, _, _, Outcome.Acknowledged(version), _, ended) =>
        (ended, history.chain.indexOf.getOrElse(version.metadataLocation, -1), id)
    }
    history.finished.reads.flatMap { read =>
      history.chain.indexOf.get(read.location) match {
        case None => Vector(s"$read returned a version that the table never had")
        case Some(index) =>
          acknowledgements.filter { case (ended, acknowledged, _) => ended <= read.began && acknowledged > index }
            .map { case (_, _, id) => s"$read does not include operation $id, which was acknowledged before the load" }
      }
    }
  }
}
