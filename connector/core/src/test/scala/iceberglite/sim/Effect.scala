package iceberglite.sim

import iceberglite.spec.file.ContentFile
import iceberglite.table.IsolationLevel

/** The expected change of a snapshot to the rows of its parent: the model to which tables are compared. */
trait Effect {
  def after(parent: Rows, contents: PretendedContents): Rows

  /**
   * Returns why the commit should have been rejected.
   *
   * @param read the rows that the writer saw when it planned the operation
   * @param parent the rows to which the commit was applied
   */
  def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String]

  /** Whether the snapshot may be omitted if the rows would not change. */
  def mayChangeNothing: Boolean = false
}

object Effect {

  /** An effect that can be applied to any rows. */
  trait Unconditional extends Effect {
    final override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = None
  }

  /** Adds new files. */
  final case class Added(files: Vector[PretendedFile]) extends Unconditional {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent ++ files
  }

  /** Deletes the rows of a category and adds new files. */
  final case class Overwritten(category: String, files: Vector[PretendedFile], isolation: Option[IsolationLevel])
      extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows =
      parent -- contents.inCategory(parent, category) ++ files

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] =
      isolation.flatMap(Effect.isolationViolation(_, contents.ids(read, category), contents.ids(parent, category)))

    override def mayChangeNothing: Boolean = files.isEmpty
  }

  /** Replaces the files in the partitions of the new files. */
  final case class PartitionsReplaced(files: Vector[PretendedFile], isolation: Option[IsolationLevel]) extends Effect {
    private val partitions = files.map(f => (f.file.specId, f.file.partition)).toSet

    private def inside(rows: Rows, contents: PretendedContents): Rows = Rows(rows.live.filter { case (path, _) =>
      val file = contents.file(path).file
      partitions((file.specId, file.partition))
    })

    override def after(parent: Rows, contents: PretendedContents): Rows =
      parent -- inside(parent, contents).live.keys ++ files

    /** Rows that a compaction moved to a partition of another spec would remain next to their replacements. */
    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = isolation.flatMap {
      level =>
        val now = contents.ids(inside(parent, contents))
        val before = contents.ids(inside(read, contents))
        val moved = (before & contents.ids(parent)) -- now
        if (moved.nonEmpty) Some(s"the rows ${moved.mkString(", ")} belong to another partition spec by now")
        else Effect.isolationViolation(level, before, now)
    }
  }

  /**
   * Deletes single rows and adds new files with the new versions of the rows.
   *
   * @param rows positions by file, as the writer saw them
   */
  final case class RowsDeleted(
      rows: Map[String, Set[Int]],
      files: Vector[PretendedFile],
      isolation: Option[IsolationLevel]
  ) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent.without(rows) ++ files

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = {
      val ids = contents.ids(Rows(rows))
      val present = contents.ids(parent)
      val elsewhere = ids & contents.ids(after(parent, contents))
      val gone = ids -- present
      val added = present -- contents.ids(read)
      if (elsewhere.nonEmpty) Some(s"the rows ${elsewhere.mkString(", ")} are in other files by now")
      else if (files.nonEmpty && gone.nonEmpty) Some(s"the rows ${gone.mkString(", ")} that it updates were gone")
      else if (added.nonEmpty && isolation.contains(IsolationLevel.Serializable)) {
        Some(s"the rows ${added.mkString(", ")} were added after it read the table")
      } else None
    }

    override def mayChangeNothing: Boolean = files.isEmpty
  }

  /** Deletes the rows of a partition with certain ids. */
  final case class KeysDeleted(deletes: ContentFile, ids: Set[Long]) extends Unconditional {
    override def after(parent: Rows, contents: PretendedContents): Rows = {
      val samePartition = Rows(parent.live.filter { case (path, _) =>
        val file = contents.file(path).file
        file.specId == deletes.specId && file.partition == deletes.partition
      })
      parent.without(contents.filesWithRows(samePartition, ids))
    }
  }

  /** Replaces files by others with the same rows; rows deleted since then stay deleted. */
  final case class Rewritten(removed: Set[String], file: PretendedFile) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = {
      val present = contents.ids(Rows(parent.live.filterKeys(removed)))
      Rows((parent -- removed).live + (file.path -> file.ids.indices.filter(i => present(file.ids(i))).toSet))
    }

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = {
      val (before, now) = (contents.ids(parent), contents.ids(after(parent, contents)))
      if (!removed.forall(parent.live.contains))
        Some(s"the files ${(removed -- parent.live.keys).mkString(", ")} were gone")
      else if (before == now) None
      else Some(s"the rows ${(before -- now).mkString(", ")} go, and ${(now -- before).mkString(", ")} come back")
    }
  }

  /** Lists the same files in other manifests. */
  case object Regrouped extends Unconditional {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent
    override def mayChangeNothing: Boolean = true
  }

  /**
   * Cherry-picks an appended snapshot. If its parent is the current snapshot, this is a fast-forward without a new
   * snapshot.
   */
  final case class Picked(files: Vector[PretendedFile]) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent ++ files

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] =
      Some(files.flatMap(_.ids).toSet & contents.ids(parent)).filter(_.nonEmpty).map(ids =>
        s"the rows $ids were present already"
      )

    override def mayChangeNothing: Boolean = true
  }

  /** Removes whole files with all their rows. */
  final case class FilesRemoved(paths: Set[String]) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent -- paths

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] =
      paths.find(!parent.live.contains(_)).map(path => s"$path was gone")
  }

  /** Returns the concurrent change that the writer's isolation level does not allow, if any. */
  private def isolationViolation(level: IsolationLevel, read: Set[Long], now: Set[Long]): Option[String] = {
    val lost = read -- now
    val gained = now -- read
    if (lost.nonEmpty) Some(s"the rows ${lost.mkString(", ")} that it read were gone")
    else if (gained.nonEmpty && level == IsolationLevel.Serializable) {
      Some(s"the rows ${gained.mkString(", ")} were added after it read the table")
    } else None
  }
}
