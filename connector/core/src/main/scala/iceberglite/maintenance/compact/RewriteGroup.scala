package iceberglite.maintenance.compact

/** Files that are rewritten together. */
trait RewriteGroup {

  /** The number of files. */
  def files: Int

  /** The total size of the files, in bytes. */
  def bytes: Long

  /** Why the group is rewritten, as a phrase. */
  def reason: String
}

/** Limits of the size and number of files, which determine the groups of a rewrite. */
trait GroupLimits {

  /** The desired size of a new file, in bytes. */
  def targetFileSize: Long

  /** Files below this size are rewritten, in bytes. */
  def minFileSize: Long

  /** Files above this size are rewritten, in bytes. */
  def maxFileSize: Long

  /** The number of files from which a group is rewritten, regardless of its size. */
  def minInputFiles: Int

  /** Whether all files are rewritten. */
  def rewriteAll: Boolean

  /** Maximum size of a group in bytes, unless a single file is larger. */
  def maxGroupSize: Long

  /** Maximum number of files in a group. */
  def maxGroupFiles: Long

  def order: GroupOrder

  /** Absent for a single commit. */
  def partialProgress: Option[PartialProgress]

  /** The size at which a writer begins a new file. It is above the target, so that no small last file is written. */
  final def writeMaxFileSize: Long = targetFileSize + (maxFileSize - targetFileSize) / 2

  /** Returns the number of files to write for a number of bytes, so that none is much too small or much too large. */
  final def outputFiles(bytes: Long): Int = {
    val full = bytes / targetFileSize
    val remainder = bytes % targetFileSize
    val files =
      if (bytes < targetFileSize) 1L
      else if (remainder > minFileSize) full + 1
      else if (bytes / full < math.min(targetFileSize + targetFileSize / 10, writeMaxFileSize)) full
      else full + (if (remainder > 0) 1 else 0)
    math.min(files, GroupLimits.MaxOutputFiles).toInt
  }

  /** Returns whether a file of this size is rewritten. */
  final def isChosen(size: Long): Boolean = rewriteAll || size < minFileSize || size > maxFileSize

  /** Divides files into groups within the limits, in their order. */
  final def divide[A](files: Vector[A])(sizeOf: A => Long): Vector[Vector[A]] = {
    val groups = Vector.newBuilder[Vector[A]]
    var group = Vector.newBuilder[A]
    var (count, bytes) = (0L, 0L)
    files.foreach { file =>
      val size = sizeOf(file)
      if (count > 0 && (bytes + size > maxGroupSize || count == maxGroupFiles)) {
        groups += group.result()
        group = Vector.newBuilder[A]
        count = 0
        bytes = 0
      }
      group += file
      count += 1
      bytes += size
    }
    if (count > 0) groups += group.result()
    groups.result()
  }

  /** Returns why files of these sizes are rewritten together; absent if a rewrite would not improve their sizes. */
  final def reasonFor(sizes: Vector[Long]): Option[String] = {
    val (files, bytes) = (sizes.size, sizes.sum)
    if (rewriteAll) Some("all files are rewritten")
    else if (files > 1 && files >= minInputFiles)
      Some(s"$files files have sizes outside of $minFileSize to $maxFileSize bytes")
    else if (files > 1 && bytes > targetFileSize) Some(s"$files files fill at least one file of $targetFileSize bytes")
    else if (bytes > maxFileSize) Some(s"a file is larger than $maxFileSize bytes")
    else None
  }

  /** Returns groups in the order in which they are rewritten. */
  final def sorted[G <: RewriteGroup](groups: Vector[G]): Vector[G] = order.ordering.fold(groups)(groups.sorted(_))
}

private object GroupLimits {

  /** The maximum number of files that a file group is divided into. */
  val MaxOutputFiles = 100000L
}
