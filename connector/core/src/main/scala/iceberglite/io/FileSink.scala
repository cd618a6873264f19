package iceberglite.io

/** Where new files go. */
trait FileSink {

  /** Writes a new file; its directories are made where the storage has such. */
  def write(path: String, contents: Array[Byte]): Unit
}
