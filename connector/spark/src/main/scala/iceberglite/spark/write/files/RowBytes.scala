package iceberglite.spark.write.files

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** The bytes of strings without a copy: usually in the array of the row. */
private[iceberglite] object RowBytes {

  /** Returns the array with the bytes, which start at [[offset]]. */
  def array(text: UTF8String): Array[Byte] = text.getBaseObject match {
    case bytes: Array[Byte] => bytes
    case _ => text.getBytes
  }

  def offset(text: UTF8String): Int = text.getBaseObject match {
    case _: Array[Byte] => (text.getBaseOffset - Platform.BYTE_ARRAY_OFFSET).toInt
    case _ => 0
  }
}
