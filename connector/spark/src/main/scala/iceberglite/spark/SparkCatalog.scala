package iceberglite.spark

import java.util

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{
  Identifier,
  StagedTable,
  TableCatalog,
  TableCatalogCapability,
  TableChange
}
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.connector.catalog.{Table => SparkTableInterface}
import org.apache.spark.sql.connector.expressions.{Transform => SparkTransform}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.catalog.{Catalog, ViewCatalog}
import iceberglite.spark.catalog.{
  CatalogSetup,
  CatalogTables,
  ConstrainedColumns,
  FunctionOperations,
  NamedTable,
  NamespaceOperations,
  PathName,
  ResolvedName,
  AlterTableChanges,
  TableDefinition,
  DerivedTable
}
import iceberglite.spark.changelog.ChangelogTable
import iceberglite.spark.conf.{SessionSettings, TablePropertyCheck, TimeTravel}
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.inspect.MetadataSparkTable
import iceberglite.spark.maintenance.AutoCompaction
import iceberglite.spark.rowlevel.StatementTarget
import iceberglite.spark.session.{ColumnDefinitionCatalog, CommitListeners, LiteCatalog, SharedTable}
import iceberglite.spark.table.{SparkTable, StagedSparkTable}
import iceberglite.spark.write.CommitFollowUp
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.table.{StageMode, Table, TableCreation, TableIdentifier}

/**
 * A catalog of iceberg-lite tables. A catalog with the name `lite` is configured with `spark.sql.catalog.lite =
 * iceberglite.spark.SparkCatalog`, with `spark.sql.catalog.lite.type` or
 * `spark.sql.catalog.lite.catalog-impl`, and with the other properties of this catalog type.
 */
class SparkCatalog
    extends LiteCatalog
    with ColumnDefinitionCatalog
    with NamespaceOperations
    with FunctionOperations {

  /** Whether the catalog may accept paths as table names. Paths are accepted only if the catalog type supports them. */
  protected def mayAllowPaths: Boolean = true

  private var setup: Option[CatalogSetup] = None

  private def settings: CatalogSetup =
    setup.getOrElse(throw new IllegalStateException("Spark has not initialized the catalog"))

  private def tables: CatalogTables = settings.tables

  override protected def catalog: Catalog = settings.catalog

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit =
    SparkErrors.in(s"catalog $name") {
      setup = Some(CatalogSetup.of(name, options, SparkSession.active, mayAllowPaths))
    }

  override def name: String = settings.name

  override def toString: String = setup.fold(getClass.getName)(s => s"${s.name} (${getClass.getSimpleName})")

  override def defaultNamespace: Array[String] = settings.defaultNamespace

  override def useNullableQuerySchema: Boolean = settings.useNullableQuerySchema

  override def capabilities: util.Set[TableCatalogCapability] =
    SparkCatalog.capabilities

  override def listTables(namespace: Array[String]): Array[Identifier] = in(namespace) {
    catalog.listTables(namespace.toVector).map(id => Identifier.of(id.namespace.toArray, id.name)).toArray
  }

  override def tableExists(ident: Identifier): Boolean = in(ident)(tables.exists(ident))

  override def loadTable(ident: Identifier): SparkTableInterface = load(ident, TimeTravel.Latest)

  override def loadTable(ident: Identifier, version: String): SparkTableInterface =
    load(ident, TimeTravel.AtVersion(version))

  /** @param timestamp microseconds since 1970 */
  override def loadTable(ident: Identifier, timestamp: Long): SparkTableInterface =
    load(ident, TimeTravel.AtTimestamp(Math.floorDiv(timestamp, 1000L)))

  private def load(ident: Identifier, requested: TimeTravel): SparkTableInterface = in(ident) {
    SessionSettings.check(SparkSession.active)
    SparkSessionExtensions.registerLastRules(SparkSession.active)
    val resolved = tables.find(ident)
    val travel = if (requested == TimeTravel.Latest) resolved.travel else requested
    if (requested != TimeTravel.Latest && resolved.travel != TimeTravel.Latest) {
      throw Unsupported(
        s"time travel to ${requested.selector} of ${displayName(ident)}",
        s"The name already selects a state of the table, ${resolved.travel.selector}; remove one of the two selections"
      )
    }
    val lacksSnapshots = resolved.view.isDefined && !resolved.table.current.version.hasAllSnapshots
    // Refresh the table if its metadata lacks the requested snapshot, branch or tag, because another writer may have
    // created it after the table was loaded. Metadata tables and the changelog need all snapshots, but a REST catalog
    // may have loaded only those that branches and tags refer to.
    if (lacksSnapshots || Try(travel.snapshot(resolved.table.current.metadata)).isFailure) resolved.table.refresh()
    resolved.view match {
      case Some(DerivedTable.OfMetadata(view)) => new MetadataSparkTable(() => resolved.table.current, view, travel)
      case Some(DerivedTable.Changes) => new ChangelogTable(() => resolved.table.current, travel)
      case None =>
        new SparkTable(() => resolved.table.current, travel, StatementTarget.plain(SparkCatalog.followUps))
    }
  }

  override def loadFunction(ident: Identifier): UnboundFunction = in(ident) {
    SparkSessionExtensions.registerLastRules(SparkSession.active)
    super.loadFunction(ident)
  }

  override def sharedTable(ident: Identifier): SharedTable = in(ident) {
    tables.find(ident) match {
      case ResolvedName(table, TimeTravel.Latest, None) => table
      case _ => throw Unsupported.operation(
          displayName(ident),
          "changing",
          "Only a table itself can be changed. Use its name without a metadata table and without a snapshot"
        )
    }
  }

  override def registerTable(ident: Identifier, metadataFile: String): Table = in(ident) {
    tables.handleOf(ident) match {
      case NamedTable(_, id) =>
        val registered = catalog.register(id, metadataFile)
        tables.forget(ident)
        registered
      case _ =>
        throw Unsupported(
          s"registering ${displayName(ident)}",
          "A table at a path is not registered in a catalog; load it by its path"
        )
    }
  }

  override def commitAll(changes: Vector[iceberglite.table.TableChange]): Unit =
    in(Array.empty[String])(catalog.commitAll(changes))

  override def viewCatalog: Option[ViewCatalog] = in(Array.empty[String]) {
    catalog match {
      case views: ViewCatalog => Some(views)
      case _ => None
    }
  }

  override def isIcebergTable(ident: Identifier): Boolean = tableExists(ident)

  override def stageTable(ident: Identifier, creation: TableCreation): iceberglite.table.StagedTable = in(ident) {
    checked(tables.handleOfNew(ident).stage(creation, StageMode.Create))
  }

  /** Rejects a new table with an invalid CHECK constraint or generated column. */
  private def checked(staged: iceberglite.table.StagedTable): iceberglite.table.StagedTable = {
    try ConstrainedColumns.checkNew(staged.table.schema, staged.table.properties, staged.table.name)
    catch {
      case invalid: InvalidArgument =>
        staged.abort()
        throw invalid
    }
    staged
  }

  override def allowsPaths: Boolean = tables.allowsPaths

  override def rejection(ident: Identifier): Option[String] = in(ident)(tables.rejection(ident))

  override def similarName(ident: Identifier): Option[String] = in(ident)(tables.similarName(ident))

  override def invalidateTable(ident: Identifier): Unit = in(ident)(tables.invalidate(ident))

  override def createTable(
      ident: Identifier,
      schema: StructType,
      partitions: Array[SparkTransform],
      properties: util.Map[String, String]
  ): SparkTableInterface = in(ident) {
    val creation = creationOf(ident, schema, partitions, properties)
    val handle = tables.handleOfNew(ident)
    ConstrainedColumns.checkNew(creation.schema, handle.propertiesOf(creation), displayName(ident))
    val created = handle.create(creation)
    CommitListeners.announce(created, None)
    tables.invalidate(ident)
    loadTable(ident)
  }

  override def stageCreate(
      ident: Identifier,
      schema: StructType,
      partitions: Array[SparkTransform],
      properties: util.Map[String, String]
  ): StagedTable = stage(ident, schema, partitions, properties, StageMode.Create)

  override def stageReplace(
      ident: Identifier,
      schema: StructType,
      partitions: Array[SparkTransform],
      properties: util.Map[String, String]
  ): StagedTable = stage(ident, schema, partitions, properties, StageMode.Replace)

  override def stageCreateOrReplace(
      ident: Identifier,
      schema: StructType,
      partitions: Array[SparkTransform],
      properties: util.Map[String, String]
  ): StagedTable = stage(ident, schema, partitions, properties, StageMode.CreateOrReplace)

  private def stage(
      ident: Identifier,
      schema: StructType,
      partitions: Array[SparkTransform],
      properties: util.Map[String, String],
      mode: StageMode
  ): StagedTable = in(ident) {
    val staged = checked(tables.handleOfNew(ident).stage(creationOf(ident, schema, partitions, properties), mode))
    new StagedSparkTable(staged, () => tables.invalidate(ident))
  }

  /** Checks the settings and properties of a new table, and returns its creation. */
  private def creationOf(
      ident: Identifier,
      schema: StructType,
      partitions: Array[SparkTransform],
      properties: util.Map[String, String]
  ): TableCreation = {
    SessionSettings.check(SparkSession.active)
    checkProperties(ident, properties.asScala.toMap)
    val tableProperties = withoutNameAsLocation(ident, properties)
    if (PathName.of(ident).isEmpty) tableProperties.get(TableCatalog.PROP_LOCATION).foreach(TableDefinition.absolute)
    TableDefinition(schema, partitions.toSeq, tableProperties, isCaseSensitive).creation
  }

  /**
   * Removes a `location` property that is a table name instead of a path. `DataFrameWriter.save("db.t")` sets the
   * property to `db.t`.
   */
  private def withoutNameAsLocation(ident: Identifier, properties: util.Map[String, String]): Map[String, String] = {
    val fullName = displayName(ident)
    properties.asScala.toMap.filterNot { case (key, value) =>
      key == TableCatalog.PROP_LOCATION && !PathName.isPath(value) && fullName.endsWith(value.replace("`", ""))
    }
  }

  override def alterTable(ident: Identifier, changes: TableChange*): SparkTableInterface = in(ident) {
    checkProperties(ident, changes.collect { case set: TableChange.SetProperty => set.property -> set.value }.toMap)
    val shared = sharedTable(ident)
    if (AlterTableChanges.namesSnapshot(changes)) shared.refresh()
    val transaction = shared.current.transaction()
    AlterTableChanges.actions(changes, isCaseSensitive).foreach(transaction.add)
    transaction.commit()
    loadTable(ident)
  }

  private def checkProperties(ident: Identifier, properties: Map[String, String]): Unit =
    TablePropertyCheck.check(displayName(ident), properties, SessionSettings.warnings(SparkSession.active))

  override def dropTable(ident: Identifier): Boolean = drop(ident, purge = false)

  override protected def dropTable(id: TableIdentifier): Unit = in(id.namespace.toArray) {
    dropTable(Identifier.of(id.namespace.toArray, id.name))
    ()
  }

  override def purgeTable(ident: Identifier): Boolean = drop(ident, purge = true)

  private def drop(ident: Identifier, purge: Boolean): Boolean = in(ident) {
    tables.dropAndForget(ident)(tables.handleOf(ident).drop(purge))
  }

  override def renameTable(from: Identifier, to: Identifier): Unit = in(from) {
    val target = withoutCatalog(to)
    (tables.handleOf(from), tables.handleOf(target)) match {
      case (NamedTable(_, id), NamedTable(_, newId)) => catalog.rename(id, newId)
      case _ =>
        throw Unsupported(
          s"renaming ${displayName(from)} to ${displayName(target)}",
          "A table at a path cannot be renamed, because the path identifies the table"
        )
    }
    Seq(from, target).foreach(tables.forget)
  }

  /**
   * Removes the name of this catalog from the new name of a table. If the user writes the catalog's name in `RENAME
   * TO`, Spark passes this name as the first part of the namespace. The namespace is not changed if it has only one
   * part, or if a namespace with exactly these parts exists.
   */
  private def withoutCatalog(to: Identifier): Identifier =
    if (to.namespace.length > 1 && to.namespace.head == name && !namespaceExists(to.namespace)) {
      Identifier.of(to.namespace.tail, to.name)
    } else to

  private def isCaseSensitive: Boolean = SparkSession.active.sessionState.conf.caseSensitiveAnalysis

  private def in[A](ident: Identifier)(operation: => A): A = SparkErrors.in(displayName(ident))(operation)

  private def displayName(ident: Identifier): String =
    PathName.of(ident).fold((name +: ident.namespace :+ ident.name).mkString("."))(_.toString)
}

private object SparkCatalog {

  /** The maintenance that may follow the commit of a write. */
  val followUps: Seq[CommitFollowUp] = Seq(AutoCompaction)

  val capabilities: util.Set[TableCatalogCapability] =
    util.Collections.unmodifiableSet(util.EnumSet.of(
      TableCatalogCapability.SUPPORT_COLUMN_DEFAULT_VALUE,
      TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_GENERATED_COLUMNS
    ))
}
