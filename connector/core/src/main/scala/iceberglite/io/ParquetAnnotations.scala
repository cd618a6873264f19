package iceberglite.io

import org.apache.parquet.schema.LogicalTypeAnnotation
import org.apache.parquet.schema.LogicalTypeAnnotation.{
  EnumLogicalTypeAnnotation,
  IntLogicalTypeAnnotation,
  JsonLogicalTypeAnnotation,
  StringLogicalTypeAnnotation
}

/** What the logical types of Parquet say of the values of a column. */
private[iceberglite] object ParquetAnnotations {

  /** Whether the values are whole numbers that a signed type of so many bits holds; no annotation says so too. */
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
