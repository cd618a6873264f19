package iceberglite.spark.procedure

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.changelog.{ChangelogIdentifiers, ChangelogTable, ChangelogView}
import iceberglite.spark.convert.PartitionTerm
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.schema.Schema

/** `CALL catalog.system.create_changelog_view(table, ...)` */
object CreateChangelogViewProcedure extends Procedure {
  private val view = Parameter.optional(
    "changelog_view",
    ParameterType.Text,
    "Name of the view, by default `<table>_changes`; it replaces a temporary view of that name"
  )
  private val options = Parameter.optional(
    "options",
    ParameterType.Options,
    "Read options that select the commits, such as `start-snapshot-id`; by default all commits"
  )
  private val computeUpdates = Parameter.optional(
    "compute_updates",
    ParameterType.Flag,
    "Whether to recognize updates; by default true if `identifier_columns` are given"
  )
  private val identifierColumns = Parameter.optional(
    "identifier_columns",
    ParameterType.Texts,
    "Columns that identify a row; by default the identifier fields of the table"
  )
  private val netChanges = Parameter.optional(
    "net_changes",
    ParameterType.Flag,
    "Whether to show the net changes of all commits together; not with `compute_updates`"
  )

  override val name = "create_changelog_view"
  override val description = "Create a temporary view of the rows that commits inserted, deleted and updated"
  override val parameters: Seq[Parameter[_]] =
    Seq(Parameter.table, view, options, computeUpdates, identifierColumns, netChanges)

  override val output: StructType =
    StructType(
      Seq(Procedure.column("changelog_view", StringType, "Name of the view, which can be read in this session"))
    )

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val ident = context.identifier(arguments(Parameter.table))
    val changes = Identifier.of(ident.namespace :+ ident.name, ChangelogTable.Name)
    val table = changelog(context, changes)
    val requested = requestedView(arguments, table.tableSchema, context.session)
    val readOptions = arguments.get(options).getOrElse(Map.empty)
    // Build a scan to check the options now. Otherwise, errors would be reported only when the view is read.
    table.newScanBuilder(new CaseInsensitiveStringMap(readOptions.asJava))
    val name = viewName(arguments, ident, context.session)
    val fullName = PartitionTerm.quoted(context.catalog.name +: changes.namespace.toSeq :+ changes.name)
    ChangelogView.of(context.session.read.options(readOptions).table(fullName), requested).createOrReplaceTempView(name)
    Seq(Row(name))
  }

  private def changelog(context: ProcedureContext, changes: Identifier): ChangelogTable =
    context.catalog.loadTable(changes) match {
      case changelog: ChangelogTable => changelog
      case other => throw Unsupported(s"a changelog view of ${other.name}", "It must be an Iceberg table")
    }

  private def requestedView(arguments: Arguments, schema: Schema, session: SparkSession): ChangelogView = {
    val names = arguments.get(identifierColumns)
    val net = arguments.get(netChanges).contains(true)
    if (!arguments.get(computeUpdates).getOrElse(names.isDefined)) {
      if (net) ChangelogView.NetChanges else ChangelogView.PerCommit
    } else if (net) throw InvalidArgument(
      "argument net_changes",
      "true",
      "Net changes have no updates; remove net_changes or identifier_columns, or set compute_updates to false"
    )
    else ChangelogView.WithUpdates(new ChangelogIdentifiers(schema, session, "argument identifier_columns").of(names))
  }

  private def viewName(arguments: Arguments, table: Identifier, session: SparkSession): String = {
    val name = arguments.get(view).getOrElse(PartitionTerm.quoted(Seq(s"${table.name}_changes")))
    val isSingle = Try(session.sessionState.sqlParser.parseMultipartIdentifier(name)).toOption.exists(_.size == 1)
    if (!isSingle) throw InvalidArgument(
      "argument changelog_view",
      name,
      "It must be a single identifier in SQL, without a catalog or namespace, such as changes or `my changes`"
    )
    name
  }
}
