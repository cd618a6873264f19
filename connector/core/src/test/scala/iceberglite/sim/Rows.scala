package iceberglite.sim

import scala.collection.mutable

import iceberglite.spec.file.ContentFile

/** A data file that is not really written. It has one row for each id, in this order. All rows are in the category. */
final case class SimulatedFile(file: ContentFile, category: String, ids: Vector[Long]) {
  def path: String = file.path
}

/**
 * The live rows of a snapshot: for each data file, the positions of rows that are not deleted. A file whose rows are
 * all deleted has an empty set.
 */
final case class Rows(live: Map[String, Set[Int]]) {
  def ++(files: Seq[SimulatedFile]): Rows = Rows(live ++ files.map(f => f.path -> f.ids.indices.toSet))

  def --(paths: Iterable[String]): Rows = Rows(live -- paths)

  /**
   * Returns the rows without some positions. Positions of rows that are not live are ignored.
   *
   * @param rows positions to remove, by the path of the data file
   */
  def without(rows: Map[String, Set[Int]]): Rows = Rows(live.map { case (path, positions) =>
    path -> (positions -- rows.getOrElse(path, Set.empty))
  })
}

object Rows {
  val None: Rows = Rows(Map.empty)
}

/** The contents of data files, position delete files and equality delete files that are not really written. */
final class SimulatedContents {
  private val files = mutable.Map.empty[String, SimulatedFile]
  private val positions = mutable.Map.empty[String, Map[String, Set[Int]]]
  private val keys = mutable.Map.empty[String, Set[Long]]

  def keep(file: SimulatedFile): Unit = files.update(file.path, file)
  def keepPositions(path: String, deleted: Map[String, Set[Int]]): Unit = positions.update(path, deleted)
  def keepKeys(path: String, ids: Set[Long]): Unit = keys.update(path, ids)

  def file(path: String): SimulatedFile = files(path)
  def deletedBy(path: String): Map[String, Set[Int]] = positions(path)
  def keysOf(path: String): Set[Long] = keys(path)

  /** Returns the ids of the live rows. */
  def ids(rows: Rows): Set[Long] =
    rows.live.iterator.flatMap { case (path, live) => live.iterator.map(files(path).ids) }.toSet

  def ids(rows: Rows, category: String): Set[Long] =
    ids(Rows(rows.live.filter { case (path, _) => files(path).category == category }))

  def inCategory(rows: Rows, category: String): Vector[String] =
    rows.live.keys.filter(files(_).category == category).toVector.sorted

  /** Returns the positions of the rows with the given ids, by the path of the data file. */
  def filesWithRows(rows: Rows, wantedIds: Set[Long]): Map[String, Set[Int]] = rows.live.map { case (path, live) =>
    path -> live.filter(p => wantedIds(files(path).ids(p)))
  }.filter(_._2.nonEmpty)
}
