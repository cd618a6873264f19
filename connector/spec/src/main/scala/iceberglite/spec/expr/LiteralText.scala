package iceberglite.spec.expr

import java.nio.ByteBuffer

import iceberglite.spec.types.{DateTime, Literal}
import iceberglite.spec.types.Literal._

/** Formats literals in SQL style, for messages and plans. */
object LiteralText {

  /**
   * Formats a literal. Strings and UUIDs are quoted. Dates and times are in ISO 8601, after the SQL keyword of their
   * type. Bytes are hexadecimal.
   */
  def of(value: Literal): String = value match {
    case BooleanLiteral(v) => v.toString
    case IntLiteral(v) => v.toString
    case LongLiteral(v) => v.toString
    case FloatLiteral(v) => v.toString
    case DoubleLiteral(v) => v.toString
    case DecimalLiteral(v) => v.toPlainString
    case DateLiteral(days) => s"DATE '${DateTime.formatDate(days)}'"
    case TimeLiteral(micros) => s"TIME '${DateTime.formatTime(micros)}'"
    case TimestampLiteral(micros) => s"TIMESTAMP '${DateTime.formatTimestamp(micros)}'"
    case TimestampTzLiteral(micros) => s"TIMESTAMP '${DateTime.formatTimestampTz(micros)}'"
    case TimestampNsLiteral(nanos) => s"TIMESTAMP '${DateTime.formatTimestampNs(nanos)}'"
    case TimestampTzNsLiteral(nanos) => s"TIMESTAMP '${DateTime.formatTimestampTzNs(nanos)}'"
    case StringLiteral(v) => quote(v)
    case UuidLiteral(v) => quote(v.toString)
    case FixedLiteral(bytes) => hexadecimal(bytes)
    case BinaryLiteral(bytes) => hexadecimal(bytes)
  }

  private def quote(text: String): String = "'" + text.replace("'", "''") + "'"

  private def hexadecimal(bytes: ByteBuffer): String =
    (bytes.position() until bytes.limit()).map(i => f"${bytes.get(i)}%02X").mkString("X'", "", "'")
}
