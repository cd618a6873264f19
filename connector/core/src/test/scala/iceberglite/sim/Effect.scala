package iceberglite.sim

import iceberglite.spec.file.ContentFile
import iceberglite.spec.property.IsolationLevel

/** The expected difference between the rows of a snapshot and the rows of its parent. [[ExpectedRows]] checks it. */
trait Effect {

  /** Returns the rows of the snapshot, given the rows of its parent. */
  def after(parent: Rows, contents: SimulatedContents): Rows

  /**
   * Returns the reason why the commit should have been rejected, or `None` if the commit was valid.
   *
   * @param read the rows that the writer saw when it planned the operation
   * @param parent the rows to which the commit was applied
   */
  def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String]

  /** Whether the commit may create no snapshot if it would not change any rows. */
  def mayChangeNothing: Boolean = false
}

object Effect {

  /** An effect whose commit never conflicts with other commits. */
  trait Unconditional extends Effect {
    final override def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String] = None
  }

  /** Adds new files. */
  final case class Added(files: Vector[SimulatedFile]) extends Unconditional {
    override def after(parent: Rows, contents: SimulatedContents): Rows = parent ++ files
  }

  /** Deletes the rows of a category and adds new files. */
  final case class Overwritten(category: String, files: Vector[SimulatedFile], isolation: Option[IsolationLevel])
      extends Effect {
    override def after(parent: Rows, contents: SimulatedContents): Rows =
      parent -- contents.inCategory(parent, category) ++ files

    override def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String] =
      isolation.flatMap(Effect.isolationViolation(_, contents.ids(read, category), contents.ids(parent, category)))

    override def mayChangeNothing: Boolean = files.isEmpty
  }

  /** Replaces the files in the partitions of the new files. */
  final case class PartitionsReplaced(files: Vector[SimulatedFile], isolation: Option[IsolationLevel]) extends Effect {
    private val partitions = files.map(f => (f.file.specId, f.file.partition)).toSet

    private def rowsInside(rows: Rows, contents: SimulatedContents): Rows = Rows(rows.live.filter { case (path, _) =>
      val file = contents.file(path).file
      partitions((file.specId, file.partition))
    })

    override def after(parent: Rows, contents: SimulatedContents): Rows =
      parent -- rowsInside(parent, contents).live.keys ++ files

    /**
     * If an isolation level is set, the commit must also be rejected if a compaction moved rows to a partition of
     * another partition spec, because these rows would not be replaced.
     */
    override def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String] = isolation.flatMap {
      level =>
        val now = contents.ids(rowsInside(parent, contents))
        val before = contents.ids(rowsInside(read, contents))
        val moved = (before & contents.ids(parent)) -- now
        if (moved.nonEmpty) Some(s"the rows ${moved.mkString(", ")} now belong to another partition spec")
        else Effect.isolationViolation(level, before, now)
    }
  }

  /**
   * Deletes single rows and adds new files with the new versions of the rows.
   *
   * @param rows positions of the deleted rows by file path, as the writer saw them
   */
  final case class RowsDeleted(
      rows: Map[String, Set[Int]],
      files: Vector[SimulatedFile],
      isolation: Option[IsolationLevel]
  ) extends Effect {
    override def after(parent: Rows, contents: SimulatedContents): Rows = parent.without(rows) ++ files

    override def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String] = {
      val ids = contents.ids(Rows(rows))
      val present = contents.ids(parent)
      val inOtherFiles = ids & contents.ids(after(parent, contents))
      val gone = ids -- present
      val added = present -- contents.ids(read)
      if (inOtherFiles.nonEmpty) Some(s"the rows ${inOtherFiles.mkString(", ")} were moved to other files")
      else if (files.nonEmpty && gone.nonEmpty) Some(s"the rows ${gone.mkString(", ")} that it updates were deleted")
      else if (added.nonEmpty && isolation.contains(IsolationLevel.Serializable)) {
        Some(s"the rows ${added.mkString(", ")} were added after it read the table")
      } else None
    }

    override def mayChangeNothing: Boolean = files.isEmpty
  }

  /** Deletes the rows with the given ids in the partition of an equality delete file. */
  final case class KeysDeleted(deletes: ContentFile, ids: Set[Long]) extends Unconditional {
    override def after(parent: Rows, contents: SimulatedContents): Rows = {
      val samePartition = Rows(parent.live.filter { case (path, _) =>
        val file = contents.file(path).file
        file.specId == deletes.specId && file.partition == deletes.partition
      })
      parent.without(contents.filesWithRows(samePartition, ids))
    }
  }

  /** Replaces files by one file with their rows. Rows that were deleted concurrently stay deleted. */
  final case class Rewritten(removed: Set[String], file: SimulatedFile) extends Effect {
    override def after(parent: Rows, contents: SimulatedContents): Rows = {
      val present = contents.ids(Rows(parent.live.filterKeys(removed)))
      Rows((parent -- removed).live + (file.path -> file.ids.indices.filter(i => present(file.ids(i))).toSet))
    }

    override def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String] = {
      val (before, now) = (contents.ids(parent), contents.ids(after(parent, contents)))
      if (!removed.forall(parent.live.contains))
        Some(s"the files ${(removed -- parent.live.keys).mkString(", ")} were removed")
      else if (before == now) None
      else {
        val (lost, restored) = ((before -- now).mkString(", "), (now -- before).mkString(", "))
        Some(s"the rows $lost disappear, and the rows $restored reappear")
      }
    }
  }

  /** Rewrites manifests, which changes no rows. */
  case object ManifestsRewritten extends Unconditional {
    override def after(parent: Rows, contents: SimulatedContents): Rows = parent
    override def mayChangeNothing: Boolean = true
  }

  /**
   * Cherry-picks an appended snapshot. If its parent is the current snapshot, this is a fast-forward without a new
   * snapshot.
   */
  final case class Picked(files: Vector[SimulatedFile]) extends Effect {
    override def after(parent: Rows, contents: SimulatedContents): Rows = parent ++ files

    override def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String] =
      Some(files.flatMap(_.ids).toSet & contents.ids(parent)).filter(_.nonEmpty).map(ids =>
        s"the rows $ids already exist"
      )

    override def mayChangeNothing: Boolean = true
  }

  /** Removes whole files with all their rows. */
  final case class FilesRemoved(paths: Set[String]) extends Effect {
    override def after(parent: Rows, contents: SimulatedContents): Rows = parent -- paths

    override def objection(read: Rows, parent: Rows, contents: SimulatedContents): Option[String] =
      paths.find(!parent.live.contains(_)).map(path => s"$path was removed")
  }

  /** Returns a description of the concurrent changes that the isolation level does not allow, or `None`. */
  private def isolationViolation(level: IsolationLevel, read: Set[Long], now: Set[Long]): Option[String] = {
    val lost = read -- now
    val gained = now -- read
    if (lost.nonEmpty) Some(s"the rows ${lost.mkString(", ")} that it read were deleted")
    else if (gained.nonEmpty && level == IsolationLevel.Serializable) {
      Some(s"the rows ${gained.mkString(", ")} were added after it read the table")
    } else None
  }
}
