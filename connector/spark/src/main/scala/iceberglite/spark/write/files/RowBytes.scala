package iceberglite.spark.write.files

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Accesses the bytes of a string. Bytes that are in an array, usually the row's array, are not copied. */
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
