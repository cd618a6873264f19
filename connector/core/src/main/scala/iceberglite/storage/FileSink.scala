package iceberglite.storage

/** Creates new files. */
trait FileSink {

  /** Writes a new file and creates its directories if the storage has directories. */
  def write(path: String, contents: Array[Byte]): Unit
}
