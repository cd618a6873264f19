package iceberglite.io

/**
 * Looks into maps of Avro's binary encoding whose keys are ints, where they stand. Each has been walked over once by an
 * [[AvroInput]], so that nothing is checked again, and a lookup, of which a plan makes one for each file and bound, makes
 * no object.
 */
private[io] object EncodedMap {
  val Absent: Int = -1

  /**
   * Where the value of a key begins, or [[Absent]].
   *
   * @param start of the map
   * @param sized whether a value is its length and so many bytes; else it is a varint
   */
  def find(bytes: Array[Byte], start: Int, key: Int, sized: Boolean): Int = {
    var at = start
    while (true) {
      var count = varint(bytes, at)
      at = afterVarint(bytes, at)
      if (count == 0) return Absent
      // A negative count is followed by the size of the block in bytes.
      if (count < 0) {
        count = -count
        at = afterVarint(bytes, at)
      }
      while (count > 0) {
        val found = varint(bytes, at) == key
        at = afterVarint(bytes, at)
        if (found) return at
        val length = if (sized) varint(bytes, at).toInt else 0
        at = afterVarint(bytes, at) + length
        count -= 1
      }
    }
    Absent
  }

  def varint(bytes: Array[Byte], start: Int): Long = {
    val first = bytes(start)
    if (first >= 0) ((first >>> 1) ^ -(first & 1)).toLong
    else {
      var result = (first & 0x7f).toLong
      var at = start
      var shift = 7
      while (bytes(at) < 0) {
        at += 1
        result |= (bytes(at) & 0x7fL) << shift
        shift += 7
      }
      (result >>> 1) ^ -(result & 1)
    }
  }

  def afterVarint(bytes: Array[Byte], start: Int): Int = {
    var at = start
    while (bytes(at) < 0) at += 1
    at + 1
  }

  /** A signed number of four or eight bytes, the lowest first, as bounds have them (spec: "Appendix D"). */
  def littleEndian(bytes: Array[Byte], start: Int, size: Int): Long = {
    // The last byte brings the sign.
    var value = bytes(start + size - 1).toLong
    var i = size - 2
    while (i >= 0) {
      value = (value << 8) | (bytes(start + i) & 0xff)
      i -= 1
    }
    value
  }
}
