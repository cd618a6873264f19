package iceberglite.scan.stream

/** How far a stream has read the history of a branch. */
sealed trait StreamPosition extends Product with Serializable {

  /** Returns the id of the snapshot of the position; absent for a position before the first snapshot. */
  def snapshotId: Option[Long]
}

object StreamPosition {

  /** The position before the first snapshot of the branch: nothing was read. */
  case object Empty extends StreamPosition {
    override def snapshotId: Option[Long] = None
  }

  /**
   * Only the first `files` files of the snapshot with which the stream began were read.
   *
   * @param id the id of the snapshot
   * @param files the number of files that were read, in the order of the snapshot's metadata tree
   */
  final case class InSnapshot(id: Long, files: Long) extends StreamPosition {
    override def snapshotId: Option[Long] = Some(id)
  }

  /**
   * All commits before the commit of a snapshot were read, and the first `files` files that this commit added.
   *
   * @param id the id of the snapshot
   * @param files the number of files that were read, in the order of the snapshot's metadata tree
   */
  final case class InCommit(id: Long, files: Long) extends StreamPosition {
    override def snapshotId: Option[Long] = Some(id)
  }

  /**
   * Like [[InCommit]], but with the position of an offset of Apache Iceberg. Apache Iceberg numbers the files that a
   * commit added by manifest: the first added file of a manifest has the number of live files in the preceding
   * manifests.
   *
   * @param id the id of the snapshot
   * @param position the number of the first file that was not read
   */
  final case class InApacheIcebergCommit(id: Long, position: Long) extends StreamPosition {
    override def snapshotId: Option[Long] = Some(id)
  }

  /** The rows of a snapshot, and all commits up to the snapshot, were read. @param id the id of the snapshot */
  final case class After(id: Long) extends StreamPosition {
    override def snapshotId: Option[Long] = Some(id)
  }
}
