package iceberglite.spark.write.files

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Access to the bytes of a string. They are not copied if they are in an array, usually that of the row. */
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
