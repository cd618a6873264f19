package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2CreateTablePlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.{DataType, StructType}

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind

/**
 * Rejects a new table that is partitioned by a column that it does not have. Spark's own error for such a table has no
 * condition.
 */
object CheckNamedColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case create: V2CreateTablePlan if plan.childrenResolved =>
        create.name match {
          case ResolvedIdentifier(catalog: LiteCatalog, ident) =>
            check(create, (catalog.name +: ident.namespace :+ ident.name).mkString("."))
          case _ =>
        }
      case _ =>
    }
    plan
  }

  private def check(create: V2CreateTablePlan, table: String): Unit =
    create.partitioning.flatMap(_.references).map(_.fieldNames.toSeq)
      .find(!has(create.tableSchema, _)).foreach { path =>
        val advice = s"The columns are ${create.tableSchema.fieldNames.mkString(", ")}"
        SparkErrors.at(create.origin) {
          throw SparkErrors.of(table, NotFound(ObjectKind.Column, path.mkString("."), advice))
        }
      }

  private def has(parent: DataType, path: Seq[String]): Boolean = (parent, path) match {
    case (struct: StructType, name +: inner) =>
      struct.exists(field => conf.resolver(field.name, name) && has(field.dataType, inner))
    case _ => true
  }
}
