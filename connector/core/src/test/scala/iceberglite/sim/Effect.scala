package iceberglite.sim

import iceberglite.spec.file.ContentFile
import iceberglite.table.IsolationLevel

/**
 * What a snapshot is meant to do to the rows of the one before it: the model that tables are held against.
 */
trait Effect {
  def after(parent: Rows, contents: PretendedContents): Rows

  /**
   * Why the commit had to be refused, though it was not.
   *
   * @param read the rows that the writer saw when it decided what to do
   * @param parent the rows that the commit was applied to
   */
  def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String]

  /** Whether there may be no snapshot where the rows would be what they are. */
  def mayBeNothing: Boolean = false
}

object Effect {

  /** Can be applied to whatever is there. */
  trait Unconditional extends Effect {
    final override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = None
  }

  /** New files. */
  final case class Added(files: Vector[PretendedFile]) extends Unconditional {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent ++ files
  }

  /** The rows of a category go, and new files come. */
  final case class Overwritten(category: String, files: Vector[PretendedFile], isolation: Option[IsolationLevel])
      extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows =
      parent -- contents.inCategory(parent, category) ++ files

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] =
      isolation.flatMap(Effect.disturbed(_, contents.ids(read, category), contents.ids(parent, category)))

    override def mayBeNothing: Boolean = files.isEmpty
  }

  /** The files in the partitions of new files go. */
  final case class PartitionsReplaced(files: Vector[PretendedFile], isolation: Option[IsolationLevel]) extends Effect {
    private val partitions = files.map(f => (f.file.specId, f.file.partition)).toSet

    private def inside(rows: Rows, contents: PretendedContents): Rows = Rows(rows.live.filter { case (path, _) =>
      val file = contents.file(path).file
      partitions((file.specId, file.partition))
    })

    override def after(parent: Rows, contents: PretendedContents): Rows =
      parent -- inside(parent, contents).live.keys ++ files

    /** Rows that a compaction took to a partition of another spec would stay beside those that replace them. */
    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = isolation.flatMap {
      level =>
        val now = contents.ids(inside(parent, contents))
        val before = contents.ids(inside(read, contents))
        val moved = (before & contents.ids(parent)) -- now
        if (moved.nonEmpty) Some(s"the rows ${moved.mkString(", ")} are in another spec by now")
        else Effect.disturbed(level, before, now)
    }
  }

  /**
   * Single rows go, and new files come: the new versions of the rows.
   *
   * @param rows by their files, as the writer saw them
   */
  final case class RowsDeleted(
      rows: Map[String, Set[Int]],
      files: Vector[PretendedFile],
      isolation: Option[IsolationLevel]
  ) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent.without(rows) ++ files

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = {
      val ids = contents.ids(Rows(rows))
      val there = contents.ids(parent)
      val elsewhere = ids & contents.ids(after(parent, contents))
      val gone = ids -- there
      val came = there -- contents.ids(read)
      if (elsewhere.nonEmpty) Some(s"the rows ${elsewhere.mkString(", ")} are in other files by now")
      else if (files.nonEmpty && gone.nonEmpty) Some(s"the rows ${gone.mkString(", ")} that it changes were gone")
      else if (came.nonEmpty && isolation.contains(IsolationLevel.Serializable)) {
        Some(s"the rows ${came.mkString(", ")} had come that it had not read")
      } else None
    }

    override def mayBeNothing: Boolean = files.isEmpty
  }

  /** The rows of a partition that have certain ids go. */
  final case class KeysDeleted(deletes: ContentFile, ids: Set[Long]) extends Unconditional {
    override def after(parent: Rows, contents: PretendedContents): Rows = {
      val beside = Rows(parent.live.filter { case (path, _) =>
        val file = contents.file(path).file
        file.specId == deletes.specId && file.partition == deletes.partition
      })
      parent.without(contents.having(beside, ids))
    }
  }

  /** Other files take the place of some, with the same rows: those that have been deleted since stay deleted. */
  final case class Rewritten(removed: Set[String], file: PretendedFile) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = {
      val there = contents.ids(Rows(parent.live.filterKeys(removed)))
      Rows((parent -- removed).live + (file.path -> file.ids.indices.filter(i => there(file.ids(i))).toSet))
    }

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] = {
      val (before, now) = (contents.ids(parent), contents.ids(after(parent, contents)))
      if (!removed.forall(parent.live.contains))
        Some(s"the files ${(removed -- parent.live.keys).mkString(", ")} were gone")
      else if (before == now) None
      else Some(s"the rows ${(before -- now).mkString(", ")} go, and ${(now -- before).mkString(", ")} come back")
    }
  }

  /** The same files, otherwise listed. */
  case object Regrouped extends Unconditional {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent
    override def mayBeNothing: Boolean = true
  }

  /** What a snapshot appended comes to another one; where that follows it already, no snapshot is made. */
  final case class Picked(files: Vector[PretendedFile]) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent ++ files

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] =
      Some(files.flatMap(_.ids).toSet & contents.ids(parent)).filter(_.nonEmpty).map(ids =>
        s"the rows $ids were there already"
      )

    override def mayBeNothing: Boolean = true
  }

  /** Whole files go, whatever is in them. */
  final case class FilesRemoved(paths: Set[String]) extends Effect {
    override def after(parent: Rows, contents: PretendedContents): Rows = parent -- paths

    override def objection(read: Rows, parent: Rows, contents: PretendedContents): Option[String] =
      paths.find(!parent.live.contains(_)).map(path => s"$path was gone")
  }

  /** What a writer was about has changed under it, in a way that it does not bear. */
  private def disturbed(level: IsolationLevel, read: Set[Long], now: Set[Long]): Option[String] = {
    val lost = read -- now
    val gained = now -- read
    if (lost.nonEmpty) Some(s"the rows ${lost.mkString(", ")} that it read were gone")
    else if (gained.nonEmpty && level == IsolationLevel.Serializable) {
      Some(s"the rows ${gained.mkString(", ")} had come that it had not read")
    } else None
  }
}
