package iceberglite.maintenance.cluster

/**
 * A Hilbert curve through a grid with the same number of cells in each dimension. The curve visits each cell once, and
 * consecutive cells are neighbours: they differ by one in one dimension. Therefore a short part of the curve lies in a
 * small box.
 *
 * The index of a cell is computed by the method of J. Skilling ("Programming the Hilbert curve", 2004). At each level
 * of the subdivision, the sub-curve of a cell is the whole curve after some of its dimensions were reflected and
 * exchanged. The method undoes these changes level by level. The bits of the coordinates at a level are then the Gray
 * code of the digit of the index at this level.
 *
 * @param dimensions the number of dimensions, at least 1
 * @param bits the number of bits of each coordinate, from 1 to 64
 */
final class HilbertCurve(val dimensions: Int, val bits: Int) extends Serializable {
  require(dimensions >= 1 && bits >= 1 && bits <= java.lang.Long.SIZE)

  /**
   * Returns the position of a cell on the curve, from 0 (inclusive) to 2^(`dimensions` * `bits`) (exclusive). The curve
   * can have at most [[HilbertCurve.IndexBits]] bits in all dimensions together.
   *
   * @param cell the coordinates, each from 0 (inclusive) to 2^`bits` (exclusive); the method overwrites them
   */
  def index(cell: Array[Long]): Long = {
    require(dimensions * bits <= HilbertCurve.IndexBits)
    toDigits(cell)
    interleave(cell)
  }

  /**
   * Replaces the coordinates of a cell by the digits of its position. The position consists of the most significant bit
   * of each element, followed by the next bit of each element, and so on.
   *
   * @param cell the coordinates as unsigned numbers of `bits` bits
   */
  def toDigits(cell: Array[Long]): Unit = {
    undoReflections(cell)
    decodeGray(cell)
  }

  private def undoReflections(cell: Array[Long]): Unit = {
    var level = 1L << (bits - 1)
    while (level != 1) {
      val lower = level - 1
      var i = 0
      while (i < dimensions) {
        if ((cell(i) & level) != 0) cell(0) ^= lower
        else {
          val difference = (cell(0) ^ cell(i)) & lower
          cell(0) ^= difference
          cell(i) ^= difference
        }
        i += 1
      }
      level >>>= 1
    }
  }

  /** Replaces the Gray code at each level by the digit of the index that it represents. */
  private def decodeGray(cell: Array[Long]): Unit = {
    var i = 1
    while (i < dimensions) {
      cell(i) ^= cell(i - 1)
      i += 1
    }
    val last = cell(dimensions - 1)
    var flips = 0L
    var level = 1L << (bits - 1)
    while (level != 1) {
      if ((last & level) != 0) flips ^= level - 1
      level >>>= 1
    }
    i = 0
    while (i < dimensions) {
      cell(i) ^= flips
      i += 1
    }
  }

  /** Returns the bits of all coordinates in turn, beginning with the most significant bits. */
  private def interleave(cell: Array[Long]): Long = {
    var index = 0L
    var bit = bits - 1
    while (bit >= 0) {
      var i = 0
      while (i < dimensions) {
        index = (index << 1) | ((cell(i) >>> bit) & 1)
        i += 1
      }
      bit -= 1
    }
    index
  }
}

object HilbertCurve {

  /** The maximum number of bits of the result of [[HilbertCurve.index]]. */
  val IndexBits = 63

  /**
   * The maximum number of bits of each coordinate in the clustering key of a row. With more bits, queries would hardly
   * read fewer files.
   */
  private val MaxKeyBits = 12

  /** Returns the curve for clustering keys with the given number of columns. */
  def ofColumns(columns: Int): HilbertCurve = new HilbertCurve(columns, math.min(MaxKeyBits, IndexBits / columns))
}
