package iceberglite.tree.manifestlist

import iceberglite.avro.{AvroFault, AvroInput}

/**
 * Reads maps with int keys directly in Avro's binary encoding, because a manifest consists mostly of such maps.
 * [[endOfMap]] validates a map and finds its end. [[find]] looks up a key without allocating objects, because planning
 * makes one lookup for each bound of each file.
 */
private[manifestlist] object EncodedMap {
  val Absent: Int = -1
  private val MarkedKeys = 64

  /**
   * Validates a map and returns its end.
   *
   * @param end end of the bytes that may be read
   * @param lengthPrefixed whether a value is a length followed by that many bytes; otherwise it is a varint
   * @return the end of the map, or the bitwise complement of the end if the map may have duplicate keys. Keys from 0 to
   *   63 are checked with a bit mask. Other keys may be duplicates if they are not in ascending order
   * @throws AvroFault if the map does not end within the bytes, or a key is not an int
   */
  def endOfMap(bytes: Array[Byte], start: Int, end: Int, lengthPrefixed: Boolean): Int = {
    var position = start
    var distinct = true
    var marked = 0L
    var last = MarkedKeys - 1
    var count = blockSize(bytes, position, end)
    while (count != 0) {
      position = afterBlockSize(bytes, position, end)
      while (count > 0) {
        if (position >= end) failTruncated()
        val first = bytes(position)
        // The byte is the zigzag varint of a key from 0 to 63. Most field ids are in this range.
        if (first >= 0 && (first & 1) == 0) {
          val bit = 1L << (first >> 1)
          if ((marked & bit) != 0) distinct = false
          marked |= bit
        } else {
          val key = checkedInt(bytes, position, end)
          if (key <= last) distinct = false
          last = key
        }
        position = afterValue(bytes, afterVarint(bytes, position), end, lengthPrefixed)
        count -= 1
      }
      count = blockSize(bytes, position, end)
    }
    position = afterVarint(bytes, position)
    if (distinct) position else ~position
  }

  /** Returns the end of the value at `position`. */
  private def afterValue(bytes: Array[Byte], position: Int, end: Int, lengthPrefixed: Boolean): Int = {
    val after =
      if (lengthPrefixed) {
        if (position >= end) failTruncated()
        val size = bytes(position)
        if (size >= 0 && (size & 1) == 0) position + 1 + (size >> 1) else afterBytes(bytes, position, end)
      } else {
        var last = position
        while (last < end && bytes(last) < 0) last += 1
        last + 1
      }
    if (after > end) failTruncated()
    after
  }

  /** Returns the number of entries in the block that begins at `position`; 0 marks the end of the map. */
  private def blockSize(bytes: Array[Byte], position: Int, end: Int): Int =
    if (position < end && bytes(position) >= 0 && (bytes(position) & 1) == 0) bytes(position) >> 1
    else new AvroInput(bytes, position, end).readBlockCount()

  private def afterBlockSize(bytes: Array[Byte], position: Int, end: Int): Int =
    if (bytes(position) >= 0 && (bytes(position) & 1) == 0) position + 1
    else {
      val in = new AvroInput(bytes, position, end)
      in.readBlockCount()
      in.position
    }

  private def checkedInt(bytes: Array[Byte], position: Int, end: Int): Int =
    new AvroInput(bytes, position, end).readInt()

  private def afterBytes(bytes: Array[Byte], position: Int, end: Int): Int = {
    val in = new AvroInput(bytes, position, end)
    in.skipBytes()
    in.position
  }

  private def failTruncated(): Nothing = throw AvroFault.truncated

  /**
   * Returns the position of the value of a key, or [[Absent]].
   *
   * @param start start of the map
   * @param lengthPrefixed whether a value is a length followed by that many bytes; otherwise it is a varint
   */
  def find(bytes: Array[Byte], start: Int, key: Int, lengthPrefixed: Boolean): Int = {
    var position = start
    while (true) {
      var count = varint(bytes, position)
      position = afterVarint(bytes, position)
      if (count == 0) return Absent
      // A negative count is followed by the size of the block in bytes.
      if (count < 0) {
        count = -count
        position = afterVarint(bytes, position)
      }
      while (count > 0) {
        val found = varint(bytes, position) == key
        position = afterVarint(bytes, position)
        if (found) return position
        val length = if (lengthPrefixed) varint(bytes, position).toInt else 0
        position = afterVarint(bytes, position) + length
        count -= 1
      }
    }
    Absent
  }

  /** Reads a zigzag varint without checking the end of the bytes. */
  def varint(bytes: Array[Byte], start: Int): Long = {
    val first = bytes(start)
    if (first >= 0) ((first >>> 1) ^ -(first & 1)).toLong
    else {
      var result = (first & 0x7f).toLong
      var position = start
      var shift = 7
      while (bytes(position) < 0) {
        position += 1
        result |= (bytes(position) & 0x7fL) << shift
        shift += 7
      }
      (result >>> 1) ^ -(result & 1)
    }
  }

  /** Returns the position after a varint without checking the end of the bytes. */
  def afterVarint(bytes: Array[Byte], start: Int): Int = {
    var position = start
    while (bytes(position) < 0) position += 1
    position + 1
  }

  /** Reads a signed little-endian number of four or eight bytes, as numeric bounds are encoded (spec: "Appendix D"). */
  def littleEndian(bytes: Array[Byte], start: Int, size: Int): Long = {
    // The last byte carries the sign.
    var value = bytes(start + size - 1).toLong
    var i = size - 2
    while (i >= 0) {
      value = (value << 8) | (bytes(start + i) & 0xff)
      i -= 1
    }
    value
  }
}
