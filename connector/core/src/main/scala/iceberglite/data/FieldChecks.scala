package iceberglite.data

import java.math.BigDecimal
import java.nio.ByteBuffer

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.types.Type.{DecimalType, FixedType}

/** Validates values before they are written (spec: "Schemas and Data Types"). */
private[data] object FieldChecks {

  /** Throws the error for a row without a value in a required column. */
  def failMissing(column: String): Nothing =
    throw ValidationFailed(
      s"Column $column is required, but a row has no value for it. Provide a value, or make the column optional"
    )

  /** Checks that a value has the length of its type. */
  def length(t: FixedType, value: ByteBuffer, column: String): Unit = if (value.remaining != t.length) {
    throw ValidationFailed(s"Column $column is of type $t, but a row has a value of ${value.remaining} bytes")
  }

  /** Returns the value with the scale of the column. */
  def decimal(t: DecimalType, value: BigDecimal, column: String): BigDecimal = {
    val scaled = if (value.scale == t.scale) value else rescale(t, value, column)
    if (scaled.precision > t.precision) refuse(t, value, column) else scaled
  }

  private def rescale(t: DecimalType, value: BigDecimal, column: String): BigDecimal =
    try value.setScale(t.scale)
    catch { case _: ArithmeticException => refuse(t, value, column) }

  private def refuse(t: DecimalType, value: BigDecimal, column: String): Nothing =
    throw ValidationFailed(s"Column $column is of type $t, but a row has the value $value, which does not fit")
}
