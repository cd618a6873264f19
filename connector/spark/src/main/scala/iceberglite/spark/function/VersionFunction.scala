package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.conf.EngineSummary

/** `iceberg_version()`: the version of this connector. */
object VersionFunction extends UnboundFunction {
  override def name: String = "iceberg_version"
  override def description: String = s"$name() - the version of the connector"

  override def bind(inputType: StructType): BoundFunction =
    if (inputType.isEmpty) Version
    else throw RejectedArguments.of(name, inputType, Seq(0), s"$name takes no arguments")

  case object Version extends ScalarFunction[UTF8String] {
    override def name: String = VersionFunction.name
    override def canonicalName: String = s"iceberg.$name()"
    override def inputTypes: Array[DataType] = Array.empty
    override def resultType: DataType = StringType
    override def isResultNullable: Boolean = false
    override def produceResult(input: InternalRow): UTF8String = UTF8String.fromString(EngineSummary.version)
  }
}
