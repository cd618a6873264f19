package iceberglite.spark.write

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** The bytes of strings where they stand: in the array of the row, mostly. */
private[write] object RowBytes {

  /** The array that holds them, from [[offset]] on. */
  def array(text: UTF8String): Array[Byte] = text.getBaseObject match {
    case bytes: Array[Byte] => bytes
    case _ => text.getBytes
  }

  def offset(text: UTF8String): Int = text.getBaseObject match {
    case _: Array[Byte] => (text.getBaseOffset - Platform.BYTE_ARRAY_OFFSET).toInt
    case _ => 0
  }
}
