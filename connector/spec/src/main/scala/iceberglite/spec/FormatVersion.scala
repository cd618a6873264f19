package iceberglite.spec

import iceberglite.spec.IcebergError.Unsupported

/** A version of the table format (spec: "Format Versioning"). */
sealed abstract class FormatVersion(val number: Int) extends Ordered[FormatVersion] with Serializable {
  override def compare(that: FormatVersion): Int = number.compare(that.number)
  override def toString: String = number.toString
}

object FormatVersion {
  case object V1 extends FormatVersion(1)
  case object V2 extends FormatVersion(2)
  case object V3 extends FormatVersion(3)

  /**
   * The proposed version with single-file commits. The specification does not contain it yet. Therefore other
   * implementations may be unable to read such tables, and later releases may change their layout.
   */
  case object V4 extends FormatVersion(4)

  val all: Seq[FormatVersion] = Seq(V1, V2, V3, V4)

  /** The versions that the specification contains. Their metadata trees consist of manifest lists and manifests. */
  val adopted: Seq[FormatVersion] = all.filter(_ < V4)

  /** The version of a table that is created without the property `format-version`. */
  val Default: FormatVersion = V2

  def of(number: Int): FormatVersion = all.find(_.number == number).getOrElse(
    throw Unsupported(
      s"table format version $number",
      s"This release supports versions ${all.map(_.number).mkString(", ")}; use a later release for this table"
    )
  )
}
