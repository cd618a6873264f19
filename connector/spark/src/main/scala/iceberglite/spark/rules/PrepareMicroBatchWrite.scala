package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  CreateNamedStruct,
  Expression,
  GetStructField,
  If,
  IsNull,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSource
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.{ArrayType, CharType, DataType, MapType, StringType, StructType, VarcharType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.catalog.FunctionOperations
import iceberglite.spark.conf.{StatementOptions, UpsertOptions}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported

/**
 * Loads the newest version of the table into which a micro-batch is written, so that the write follows its current
 * properties and constraints. The rule runs before all rules that use the columns of this version. Spark analyses the
 * plan of a micro-batch three times: to run it, and to describe it in two events. Only the first analysis loads it.
 */
object LoadMicroBatchTable extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case WriteToMicroBatchDataSource(_, table: SparkTable, _, query, _, _, batch) => table.loadNewest(query, batch)
      case _ => ()
    }
    plan
  }
}

/**
 * Prepares the write of a micro-batch:
 *
 *   - A query in update mode without key columns is rejected. Spark's own error does not name the option.
 *   - The lengths of `CHAR` and `VARCHAR` values are checked, and `CHAR` values are padded, as Spark does for batches.
 *   - If the query was started with a path, `start(path)`, the plan has no relation, and Spark finds no functions for
 *     the partition transforms by which it distributes the rows. The rule adds a relation whose catalog has these
 *     functions.
 */
object PrepareMicroBatchWrite extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ WriteToMicroBatchDataSource(relation, table: SparkTable, query, _, options, mode, _) =>
      table.in {
        if (mode == OutputMode.Update() && !StatementOptions(options).isUpsert) throw updateWithoutKeys(table)
      }
      val checked = write.copy(query = withLengthChecks(query, table.pinned))
      if (relation.isDefined) checked else checked.copy(relation = Some(relationOf(table)))
    case _ => plan
  }

  private def withLengthChecks(query: LogicalPlan, table: SparkTable): LogicalPlan = {
    val columns = CharVarcharUtils.replaceCharVarcharWithStringInSchema(table.schema)
    val declared = for (column <- columns.fields.toSeq; rawType <- CharVarcharUtils.getRawType(column.metadata).toSeq)
      yield column.name -> rawType
    val checks = query.output.map { value =>
      declared.find(column => conf.resolver(column._1, value.name)).filterNot(_ => conf.charVarcharAsString)
        .map(column => checked(value, column._2)).filterNot(_ eq value)
        .fold[NamedExpression](value)(check => Alias(check, value.name)())
    }
    if (checks == query.output) query else Project(checks, query)
  }

  /**
   * Returns a value with the checks of its strings. The fields of structs are matched by name, as in the write. Spark's
   * function matches the fields by position. Therefore, Spark's function is called only for strings, and for arrays and
   * maps of the declared type. All other values remain as they are, and the write checks their types.
   */
  private def checked(value: Expression, declared: DataType): Expression = (value.dataType, declared) match {
    case (StringType, _: CharType | _: VarcharType) => CharVarcharUtils.stringLengthCheck(value, declared)
    case (actual: StructType, wanted: StructType) => checkedStruct(value, actual, wanted)
    case (_: ArrayType, _: ArrayType) | (_: MapType, _: MapType)
        if CharVarcharUtils.hasCharVarchar(declared) &&
          DataTypeUtils.sameType(value.dataType, CharVarcharUtils.replaceCharVarcharWithString(declared)) =>
      CharVarcharUtils.stringLengthCheck(value, declared)
    case _ => value
  }

  private def checkedStruct(value: Expression, actual: StructType, wanted: StructType): Expression = {
    val parts: Seq[Expression] = actual.fields.toSeq.zipWithIndex.map { case (field, i) =>
      GetStructField(value, i, Some(field.name))
    }
    val checks = actual.fields.toSeq.zip(parts).map { case (field, part) =>
      wanted.fields.find(f => conf.resolver(f.name, field.name)).fold(part)(f => checked(part, f.dataType))
    }
    if (checks == parts) value
    else {
      val struct =
        CreateNamedStruct(actual.fields.toSeq.zip(checks).flatMap { case (f, check) => Seq(Literal(f.name), check) })
      if (value.nullable) If(IsNull(value), Literal(null, struct.dataType), struct) else struct
    }
  }

  private def updateWithoutKeys(table: SparkTable): Unsupported = Unsupported(
    s"a streaming query in update mode into ${table.name} without key columns",
    s"""Name the columns that identify rows with option("${UpsertOptions.Keys.key}", "..."), or use outputMode append"""
  )

  private def relationOf(table: SparkTable): DataSourceV2Relation =
    DataSourceV2Relation.create(table, Some(TransformFunctions), None)

  /** A catalog that only has the functions of partition transforms. */
  private object TransformFunctions extends FunctionOperations {
    override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = ()
    override def name: String = "iceberg_lite_transforms"
    override def namespaceExists(namespace: Array[String]): Boolean = false
  }
}
