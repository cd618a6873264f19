package iceberglite.tree

import iceberglite.spec.file.ManifestEntry

/** Writes entries in batches of the given size, the last of which may have fewer entries. */
final private[tree] class EntryBatches[A](size: Int, write: Vector[ManifestEntry] => Vector[A]) {
  private val batch = Vector.newBuilder[ManifestEntry]
  private val written = Vector.newBuilder[A]
  private var count = 0

  def add(e: ManifestEntry): Unit = {
    batch += e
    count += 1
    if (count == size) writeBatch()
  }

  /** Writes the last batch, and returns the results of all batches. */
  def result(): Vector[A] = {
    if (count > 0) writeBatch()
    written.result()
  }

  private def writeBatch(): Unit = {
    written ++= write(batch.result())
    batch.clear()
    count = 0
  }
}
