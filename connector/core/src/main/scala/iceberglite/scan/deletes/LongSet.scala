package iceberglite.scan.deletes

/**
 * A set of unboxed longs. It uses open addressing with linear probing and is at most half full. Thread-safe after the
 * last value was added.
 */
final private[scan] class LongSet {
  private var slots = new Array[Long](16)
  private var shift = 64 - 4
  private var count = 0
  private var containsZero = false

  def isEmpty: Boolean = count == 0 && !containsZero

  def bytes: Long = 8L * slots.length

  def +=(value: Long): Unit =
    if (value == 0) containsZero = true
    else {
      val slot = slotOf(value)
      if (slots(slot) == 0) {
        slots(slot) = value
        count += 1
        if (count * 2 > slots.length) grow()
      }
    }

  def contains(value: Long): Boolean = if (value == 0) containsZero else slots(slotOf(value)) == value

  def foreach(f: Long => Unit): Unit = {
    if (containsZero) f(0L)
    slots.foreach(value => if (value != 0) f(value))
  }

  /** Returns the slot that contains the value, or the free slot to which it would be added. */
  private def slotOf(value: Long): Int = {
    // The upper bits of the product depend on all bits of the value.
    var slot = ((value * LongSet.Factor) >>> shift).toInt
    while (slots(slot) != 0 && slots(slot) != value) slot = (slot + 1) & (slots.length - 1)
    slot
  }

  private def grow(): Unit = {
    val oldSlots = slots
    slots = new Array[Long](oldSlots.length * 2)
    shift -= 1
    oldSlots.foreach(value => if (value != 0) slots(slotOf(value)) = value)
  }
}

private object LongSet {
  private val Factor = 0x9e3779b97f4a7c15L
}
