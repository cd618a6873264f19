package iceberglite.parquet

import org.apache.parquet.schema.LogicalTypeAnnotation
import org.apache.parquet.schema.LogicalTypeAnnotation.{
  EnumLogicalTypeAnnotation,
  IntLogicalTypeAnnotation,
  JsonLogicalTypeAnnotation,
  StringLogicalTypeAnnotation
}

/** Interprets the logical types of Parquet. */
private[iceberglite] object ParquetAnnotations {

  /**
   * Returns whether the values of a column are integers that a signed type with the given number of bits can represent.
   * The result is also true for a column without a logical type.
   */
  def isInteger(logical: Option[LogicalTypeAnnotation], bits: Int): Boolean = logical.forall {
    case i: IntLogicalTypeAnnotation => i.isSigned && i.getBitWidth <= bits || i.getBitWidth < bits
    case _ => false
  }

  def isUnsigned32(logical: Option[LogicalTypeAnnotation]): Boolean = logical.exists {
    case i: IntLogicalTypeAnnotation => !i.isSigned && i.getBitWidth == 32
    case _ => false
  }

  def isText(logical: LogicalTypeAnnotation): Boolean = logical match {
    case _: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation | _: JsonLogicalTypeAnnotation => true
    case _ => false
  }
}
