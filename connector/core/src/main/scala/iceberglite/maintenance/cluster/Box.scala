package iceberglite.maintenance.cluster

import java.util.Arrays

import iceberglite.spec.file.{ColumnExtent, ColumnExtents, ContentFile}
import iceberglite.spec.types.Literal

/**
 * A box that contains the rows of a file, as small as the metrics of the file permit. Each clustering column is a
 * dimension. The coordinates are the ranks of the column's bounds among the bounds of all compared files; nulls come
 * first, and NaNs last.
 *
 * @param lower the lowest coordinate of each column
 * @param upper the highest coordinate of each column
 */
final private[maintenance] case class Box(lower: Vector[Int], upper: Vector[Int]) {

  /** Whether the boxes overlap in one column. */
  def overlapsIn(column: Int, that: Box): Boolean =
    lower(column) <= that.upper(column) && that.lower(column) <= upper(column)

  /**
   * Whether the boxes overlap in all columns, so that a row of one box may have the same coordinates as a row of the
   * other box.
   */
  def overlaps(that: Box): Boolean = lower.indices.forall(overlapsIn(_, that))

  /** Whether all rows have the same value in a column. */
  def isPointIn(column: Int): Boolean = lower(column) == upper(column)
}

private[maintenance] object Box {
  private val NullRank = 0
  private val FirstRank = 1

  /**
   * The maximum recursion depth of [[separate]]. Only a table with nested gaps in several columns would need a greater
   * depth.
   */
  private val MaxDepth = 8

  /** Returns the boxes of files, in the order of the files. The boxes can be compared with each other. */
  def of(columns: ClusterColumns, files: Vector[ContentFile]): Vector[Box] = {
    val extents = new ColumnExtents(columns.fields)
    val ofFiles = files.map(extents.of)
    val axes = columns.fields.indices.toVector.map(column => new Axis(ofFiles.iterator.map(_(column))))
    ofFiles.map { extents =>
      val sides = axes.zip(extents).map { case (axis, extent) => axis.side(extent) }
      Box(sides.map(_._1), sides.map(_._2))
    }
  }

  /** The approximate number of boxes in a sample. Each box of the sample is compared with all other boxes. */
  private val SampleSize = 256

  /**
   * Returns the average share of the other boxes that a box overlaps, from 0 to 1. It is estimated from a sample if
   * there are many boxes.
   */
  def overlapOf(boxes: Vector[Box]): Double =
    if (boxes.size < 2) 0
    else {
      val sample = boxes.indices.by(math.max(1, boxes.size / SampleSize))
      val overlapping = sample.iterator.map(i => boxes.count(_.overlaps(boxes(i))) - 1L).sum
      overlapping.toDouble / (sample.size.toLong * (boxes.size - 1))
    }

  /**
   * Divides items into sets, so that boxes of different sets do not overlap. In each step, the items are divided at a
   * value of a column that no box crosses. Some boxes that do not overlap cannot be separated in this way, so a set may
   * also contain such boxes.
   */
  def separate[A](items: Vector[A], depth: Int = MaxDepth)(boxOf: A => Box): Vector[Vector[A]] =
    if (items.size < 2 || depth == 0) Vector(items).filter(_.nonEmpty)
    else {
      val columns = boxOf(items.head).lower.indices.iterator
      columns.map(separateBy(_, items, boxOf)).find(_.size > 1)
        .fold(Vector(items))(_.flatMap(separate(_, depth - 1)(boxOf)))
    }

  private def separateBy[A](column: Int, items: Vector[A], boxOf: A => Box): Vector[Vector[A]] = {
    val sets = Vector.newBuilder[Vector[A]]
    var set = Vector.newBuilder[A]
    var (first, end) = (true, 0)
    items.sortBy(boxOf(_).lower(column)).foreach { item =>
      if (!first && boxOf(item).lower(column) > end) {
        sets += set.result()
        set = Vector.newBuilder[A]
      }
      set += item
      end = if (first) boxOf(item).upper(column) else math.max(end, boxOf(item).upper(column))
      first = false
    }
    sets += set.result()
    sets.result()
  }

  /** The ranks of the bounds of one column. */
  final private class Axis(extents: Iterator[ColumnExtent]) {
    private val values: Array[Literal] = extents.flatMap(e => e.lower.iterator ++ e.upper.iterator).toArray
    Arrays.sort(values, Literal.ordering)
    private val last = FirstRank + values.length

    private def rank(value: Literal): Int = {
      var (low, high) = (0, values.length)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (Literal.ordering.lt(values(middle), value)) low = middle + 1 else high = middle
      }
      FirstRank + low
    }

    /** Returns the lowest and the highest rank of a column in a file. */
    def side(extent: ColumnExtent): (Int, Int) = {
      val least =
        if (extent.mayBeNull) NullRank
        else if (extent.mayBeOrdinary) extent.lower.fold(FirstRank)(rank)
        else last
      val greatest =
        if (extent.mayBeNan) last
        else if (extent.mayBeOrdinary) extent.upper.fold(last)(rank)
        else NullRank
      (math.min(least, greatest), greatest)
    }
  }
}
