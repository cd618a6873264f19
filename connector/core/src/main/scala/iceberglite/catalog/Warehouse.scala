package iceberglite.catalog

import java.nio.file.Paths

import iceberglite.spec.IcebergError.StorageFailed

/** The directory in which a catalog creates its tables. */
private[catalog] object Warehouse {
  private val Scheme = "^[A-Za-z][A-Za-z0-9+.-]*:.*".r

  /**
   * Returns the location as an absolute path without a trailing slash; only the root of a file system keeps its slash.
   * The path is absolute so that tables can be opened from any working directory.
   */
  def of(location: String): String = {
    val absolute = location match {
      case Scheme() => location
      case _ if location.startsWith("/") => location
      case relative => Paths.get(relative).toAbsolutePath.normalize.toString
    }
    val stripped = absolute.reverse.dropWhile(_ == '/').reverse
    if (stripped.isEmpty || stripped.endsWith(":")) absolute else stripped
  }

  /**
   * Runs an operation on files in a warehouse. If the storage fails, the error message also suggests checking the
   * warehouse.
   */
  def using[A](warehouse: String)(body: => A): A =
    try body
    catch {
      case failed: StorageFailed =>
        throw failed.copy(reason = s"${failed.reason}. Check that the warehouse $warehouse is a writable directory")
    }
}
