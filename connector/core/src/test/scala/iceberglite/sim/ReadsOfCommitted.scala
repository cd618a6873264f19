package iceberglite.sim

/** Every load returns a committed version that is not older than the commits acknowledged before the load. */
object ReadsOfCommitted extends Check {
  override def name: String = "readers see committed versions, and the newest"

  override def violations(history: CheckedHistory): Vector[String] = {
    val answers = history.ended.operations.collect {
      case Operation(id, _, _, _, _, Outcome.Acknowledged(version), _, ended) =>
        (ended, history.chain.indexOf.getOrElse(version.metadataLocation, -1), id)
    }
    history.ended.reads.flatMap { read =>
      history.chain.indexOf.get(read.location) match {
        case None => Vector(s"$read is of a version that the table never had")
        case Some(index) =>
          answers.filter { case (ended, acknowledged, _) => ended <= read.began && acknowledged > index }
            .map { case (_, _, id) => s"$read is older than operation $id, which was acknowledged before" }
      }
    }
  }
}
