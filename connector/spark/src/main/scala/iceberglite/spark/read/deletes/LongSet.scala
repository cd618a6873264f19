package iceberglite.spark.read.deletes

/** A set of longs without boxes: open addressing with linear probing, at most half full. Safe to share once filled. */
final private[deletes] class LongSet(expected: Int) {
  private val bits = math.max(4, 33 - Integer.numberOfLeadingZeros(expected))
  private val slots = new Array[Long](1 << bits)
  private var holdsZero = false

  def +=(value: Long): Unit = if (value == 0) holdsZero = true else slots(slotOf(value)) = value

  def contains(value: Long): Boolean = if (value == 0) holdsZero else slots(slotOf(value)) == value

  /** Where the value is, or is to be put. */
  private def slotOf(value: Long): Int = {
    // The upper bits of the product depend on all bits of the value.
    var slot = ((value * LongSet.Spread) >>> (64 - bits)).toInt
    while (slots(slot) != 0 && slots(slot) != value) slot = (slot + 1) & (slots.length - 1)
    slot
  }
}

private object LongSet {
  private val Spread = 0x9e3779b97f4a7c15L
}
