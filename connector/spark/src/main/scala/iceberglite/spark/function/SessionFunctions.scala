package iceberglite.spark.function

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, V2ExpressionUtils}
import org.apache.spark.sql.connector.catalog.functions.{ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The connector's functions in the form of Spark's own functions. Spark 3.5 does not look up functions of
 * `spark_catalog` in the catalog that a user has configured, but only in its registry of functions. Spark asks the
 * catalog only whether the function exists. With the entries of this object in the registry,
 * `spark_catalog.system.bucket(16, id)` calls the same function as in other catalogs, if `spark_catalog` is a catalog
 * of the connector.
 */
private[iceberglite] object SessionFunctions {
  private val Namespace = "system"

  /**
   * A function of the registry.
   *
   * @param call creates the call of the function with resolved arguments
   */
  final case class Entry(identifier: FunctionIdentifier, info: ExpressionInfo, call: Seq[Expression] => Expression)

  val all: Seq[Entry] = Functions.all.map { function =>
    Entry(FunctionIdentifier(function.name, Some(Namespace)), infoOf(function), call(function, _))
  }

  /** Returns the description of a function for DESCRIBE FUNCTION. The empty fields are absent from its output. */
  private def infoOf(function: UnboundFunction): ExpressionInfo = {
    val (className, name, usage) = (function.getClass.getName, function.name, function.description)
    new ExpressionInfo(className, Namespace, name, usage, "", "", "", "", "", "", "scala_udf")
  }

  private def call(function: UnboundFunction, arguments: Seq[Expression]): Expression = {
    val types = arguments.zipWithIndex.foldLeft(new StructType) { case (types, (argument, i)) =>
      types.add(s"_$i", argument.dataType, argument.nullable)
    }
    RejectedArguments.reported(function).bind(types) match {
      case scalar: ScalarFunction[_] if scalar.inputTypes.length == arguments.size =>
        V2ExpressionUtils.resolveScalarFunction(scalar, arguments)
      case _ => throw SparkErrors.of(
          function.name,
          InvalidArgument(
            "call",
            s"$Namespace.${function.name}(${arguments.map(_.sql).mkString(", ")})",
            "It is not a scalar function of these arguments"
          )
        )
    }
  }
}
