package iceberglite.catalog

import java.nio.file.Paths

import iceberglite.spec.IcebergError.StorageFailed

/** The directory that a catalog makes its tables in. */
private[catalog] object Warehouse {
  private val Scheme = "^[A-Za-z][A-Za-z0-9+.-]*:.*".r

  /**
   * The location as it goes into metadata: whole, so that tables open from any working directory, and without a slash
   * at its end.
   */
  def of(location: String): String = {
    val whole = location match {
      case Scheme() => location
      case _ if location.startsWith("/") => location
      case relative => Paths.get(relative).toAbsolutePath.normalize.toString
    }
    val stripped = whole.reverse.dropWhile(_ == '/').reverse
    if (stripped.isEmpty || stripped.endsWith(":")) whole else stripped
  }

  /** Runs what may be the first to find that the place is wrong. */
  def using[A](warehouse: String)(body: => A): A =
    try body
    catch {
      case failed: StorageFailed =>
        throw failed.copy(reason = s"${failed.reason}. Check that the warehouse $warehouse is a writable directory")
    }
}
