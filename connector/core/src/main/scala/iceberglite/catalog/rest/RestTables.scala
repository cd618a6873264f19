package iceberglite.catalog.rest

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.IcebergError._
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.rest.{MetricsReport, MetricsReportJson, RestRequestJson, RestResponseJson}
import iceberglite.spec.rest.RestRequestJson.TableCommit
import iceberglite.spec.update.MetadataUpdate.{AddSnapshot, AssignUuid}
import iceberglite.spec.update.Requirement.AssertTableUuid
import iceberglite.storage.FileIO
import iceberglite.table._

/**
 * The tables of a server.
 *
 * @param io the catalog's access to files. A table for which the server vends credentials has its own `FileIO`
 * @param requirements checks whether this client can access a table
 * @param planning determines where the scans of a table are planned
 */
final private[catalog] class RestTables(
    catalog: String,
    io: FileIO,
    lazyServer: () => RestServer,
    cache: CachedRestTables,
    requirements: TableRequirements,
    planning: TablePlanning
) {
  import RestTables._

  /** The tokens that the server issued with tables. They authenticate later requests for these tables. */
  private val tokens = new ConcurrentHashMap[TableIdentifier, String]

  /** Loads a table. @return absent if the table does not exist */
  def load(id: TableIdentifier, refsOnly: Boolean): Option[TableVersion] = {
    val server = lazyServer()
    val cached = cache.get(id, refsOnly)
    val request = RestRequest(
      s"load table ${name(id)}",
      Endpoint.LoadTable,
      server.paths.table(id),
      if (refsOnly) Vector("snapshots" -> "refs") else Vector.empty,
      Delegation ++ cached.map(RequestSender.IfNoneMatch -> _.etag)
    )
    Lookup.findWithErrors(server, request)(unreadableMetadata(id)) match {
      case None =>
        invalidate(id)
        None
      case Some(RestResponse(304, _, _)) => cached.map(_.version)
      case Some(response) => Some(readLoaded(server, id, request, response, refsOnly))
    }
  }

  private def unreadableMetadata(id: TableIdentifier): PartialFunction[RestFailure, iceberglite.spec.IcebergError] = {
    case r if r.status == 404 && r.errorType == "NotFoundException" =>
      UnreadableFile(name(id), "the metadata of table", s"The server responded: ${r.message}")
  }

  private def readLoaded(
      server: RestServer,
      id: TableIdentifier,
      request: RestRequest,
      response: RestResponse,
      refsOnly: Boolean
  ): TableVersion = {
    val responseName = server.client.responseName(request)
    val table = RestResponseJson.table(responseName, response.body)
    val location = table.metadataLocation.getOrElse(
      throw InvalidMetadata(responseName, "$.metadata-location", "The field is missing, although the table exists")
    )
    requirements.check(name(id), table, server.settings)
    val access = TableAccess.renewed(name(id), server.paths.table(id), server, table, io)
    val planner = planning.of(name(id), server.paths.table(id), server, table, io)
    val version = TableVersion(table.metadata, location, access.io, hasAllSnapshots = !refsOnly, planner)
    table.config.get(TokenKey).fold(tokens.remove(id))(tokens.put(id, _))
    response.headers.get("etag").fold(cache.invalidate(id))(cache.put(id, refsOnly, _, version, access.expiresMs))
    version
  }

  /** Sends the metrics of an operation on a table, if the server accepts metrics. */
  def report(id: TableIdentifier, report: MetricsReport): Unit = {
    val server = lazyServer()
    if (server.has(Endpoint.ReportMetrics) && server.settings.flag(RestProperty.MetricsReporting)) {
      val body = MetricsReportJson.bytes(report)
      server.send(RestRequest(
        s"report metrics of table ${name(id)}",
        Endpoint.ReportMetrics,
        s"${server.paths.table(id)}/metrics",
        body = Some(body),
        // The server may count a report that is sent twice.
        retryMode = Some(RetryMode.IfNotProcessed),
        tableToken = token(id)
      ))()
      ()
    }
  }

  def exists(id: TableIdentifier): Boolean = {
    val server = lazyServer()
    val endpoint = if (server.has(Endpoint.TableExists)) Endpoint.TableExists else Endpoint.LoadTable
    Lookup.find(server, RestRequest(s"look for table ${name(id)}", endpoint, server.paths.table(id))).isDefined
  }

  /**
   * Stages the creation of a table on the server.
   *
   * @param draft the metadata of the new table, before the server adds its settings
   * @param location the location that the user requested
   */
  def stage(id: TableIdentifier, draft: TableMetadata, location: Option[String]): StagedTableSettings = {
    val server = lazyServer()
    // A staged creation has no effect on the server, so it may be retried.
    val request = creation(server, id, draft, location, staged = true).copy(retryMode = Some(RetryMode.Always))
    val response = server.send(request)(creationErrors(id))
    val loaded = RestResponseJson.table(server.client.responseName(request), response.body)
    requirements.check(name(id), loaded, server.settings)
    StagedTableSettings(loaded.metadata.location, loaded.metadata.properties, TableAccess.of(loaded, io).io)
  }

  /**
   * Creates an empty table.
   *
   * @param draft the metadata of the new table, before the server adds its settings
   * @param location the location that the user requested
   * @throws CommitStateUnknown if the server may have created the table
   * @throws Unsupported if this client cannot access the files of the table. The table is then dropped again
   * @throws InvalidArgument if a setting that the server sent is invalid. The table is then dropped again
   * @throws ValidationFailed if the server created the table with another format version or other columns
   */
  def create(id: TableIdentifier, draft: TableMetadata, location: Option[String]): TableVersion = {
    val server = lazyServer()
    // If an attempt that created the table is retried, the server returns status 409, and the outcome is unknown.
    val request =
      creation(server, id, draft, location, staged = false).copy(retryMode = Some(RetryMode.IfUnavailable))
    val response =
      CommitOutcome[RestResponse](name(id), server, request)(creationErrors(id))(PartialFunction.empty).merge
    val created =
      try CommitOutcome.readCreated(name(id))(readLoaded(server, id, request, response, refsOnly = false))
      catch {
        case unusable @ (_: Unsupported | _: InvalidArgument) =>
          withdraw(id)
          throw unusable
      }
    CreatedTable.check(name(id), draft, created.metadata)
    withColumnProperties(id, draft, created)
  }

  /**
   * Corrects the keys of the column properties (see [[iceberglite.spec.schema.FieldProperties]]), which contain field
   * ids, if the server assigned other field ids than those in the request.
   */
  private def withColumnProperties(id: TableIdentifier, draft: TableMetadata, created: TableVersion): TableVersion = {
    val updates = CreatedTable.columnProperties(draft, created.metadata)
    if (updates.isEmpty) created
    else commit(id, Some(created), Change(updates, created.metadata.uuid.map(AssertTableUuid).toVector))
  }

  /** Drops a table that was created for a statement that fails. */
  private def withdraw(id: TableIdentifier): Unit = Cleanup.quietly(s"drop the new table ${name(id)}") {
    drop(id, purge = false)
    ()
  }

  private def creation(
      server: RestServer,
      id: TableIdentifier,
      draft: TableMetadata,
      location: Option[String],
      staged: Boolean
  ): RestRequest = {
    val table = RestRequestJson.CreateTableRequest(
      id.name,
      location,
      draft.schema,
      draft.spec,
      draft.sortOrder,
      draft.properties + (FormatVersionKey -> draft.formatVersion.toString),
      staged
    )
    RestRequest(
      s"create table ${name(id)}",
      Endpoint.CreateTable,
      server.paths.tables(id.namespace),
      headers = Delegation,
      body = Some(RestRequestJson.createTable(table))
    )
  }

  def register(id: TableIdentifier, metadataFile: String): TableVersion = {
    val server = lazyServer()
    val request = RestRequest(
      s"register $metadataFile as table ${name(id)}",
      Endpoint.RegisterTable,
      server.paths.register(id.namespace),
      headers = Delegation,
      body = Some(RestRequestJson.register(id.name, metadataFile))
    )
    val response = server.send(request)(creationErrors(id))
    def registered(text: String) =
      s"$text. Table ${name(id)} is registered, but cannot be used with these settings; drop it without PURGE if it " +
        "is not needed"
    try readLoaded(server, id, request, response, refsOnly = false)
    catch {
      case e: Unsupported => throw e.copy(advice = registered(e.advice))
      case e: InvalidArgument => throw e.copy(reason = registered(e.reason))
    }
  }

  private def creationErrors(id: TableIdentifier): PartialFunction[RestFailure, iceberglite.spec.IcebergError] = {
    case r if r.status == 409 && !r.earlierOutcomeUnknown => alreadyExists(id, r)
    case r if r.status == 404 && r.isFromCatalog => noNamespace(id, r)
  }

  private def alreadyExists(id: TableIdentifier, failure: RestFailure): AlreadyExists = AlreadyExists(
    ObjectKind.Table,
    name(id),
    failure.withMessage("Drop the table first, replace it, or choose another name")
  )

  private def noNamespace(id: TableIdentifier, failure: RestFailure): NotFound = {
    val namespace = (catalog +: id.namespace).mkString(".")
    if (failure.errorType == "NoSuchNamespaceException")
      NotFound(ObjectKind.Namespace, namespace, "Create the namespace first, or check its name")
    else NotFound(ObjectKind.Resource, name(id), s"The server responded: ${failure.message}")
  }

  /** Drops a table. @return false if the table does not exist */
  def drop(id: TableIdentifier, purge: Boolean): Boolean = {
    val server = lazyServer()
    val request = RestRequest(
      s"drop table ${name(id)}",
      Endpoint.DropTable,
      server.paths.table(id),
      // The parameter is set explicitly, because the defaults of servers differ.
      Vector("purgeRequested" -> purge.toString)
    )
    try Lookup.find(server, request.copy(tableToken = token(id))).isDefined
    finally invalidate(id)
  }

  def rename(from: TableIdentifier, to: TableIdentifier): Unit = {
    val server = lazyServer()
    val body = RestRequestJson.rename(nameOf(from), nameOf(to))
    val request = RestRequest(
      s"rename table ${name(from)} to $to",
      Endpoint.RenameTable,
      server.paths.renameTable,
      body = Some(body)
    )
    try {
      server.send(request) {
        case r if r.status == 409 =>
          AlreadyExists(ObjectKind.Table, name(to), "Drop the existing object first, or choose another name")
        case r if r.errorType == "NoSuchTableException" => notFound(from)
        case r if r.status == 404 && r.isFromCatalog => noNamespace(to, r)
      }
      ()
    } finally Seq(from, to).foreach(invalidate)
  }

  /** Commits a change to a table; see [[Committer.commit]]. */
  def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    val server = lazyServer()
    val body = RestRequestJson.commitTable(commitOf(id, base, change))
    val request = RestRequest(
      s"commit to table ${name(id)}",
      Endpoint.UpdateTable,
      server.paths.table(id),
      body = Some(body),
      retryMode = Some(RetryMode.IfUnavailable),
      tableToken = token(id)
    )
    val response = CommitOutcome(name(id), server, request) {
      case r if r.status == 404 && r.isFromCatalog => if (base.isEmpty) noNamespace(id, r) else notFound(id)
      case r if r.status == 409 => conflict(id, base, change, r)
    } {
      case r if r.status == 409 && r.earlierOutcomeUnknown => createdBy(id, change)
    }
    response.fold(identity, readCommitted(server, id, base, request, _))
  }

  /**
   * Returns the table if an earlier attempt of this change created it. In this case, the table has the change's UUID.
   *
   * @throws CommitStateUnknown if the server has no such table although it reported a conflict
   */
  private def createdBy(id: TableIdentifier, change: Change): Option[TableVersion] =
    change.updates.collectFirst { case AssignUuid(uuid) => uuid }.flatMap { uuid =>
      val existing = load(id, refsOnly = false).getOrElse(
        throw CommitStateUnknown(name(id), None, "the server reported a conflict, but has no such table", None)
      )
      Some(existing).filter(_.metadata.uuid.contains(uuid))
    }

  /**
   * Returns the error for a conflict. If an earlier attempt may have succeeded, the caller checks whether one of the
   * table's snapshots belongs to this commit. If the commit adds no snapshot, this check is not possible, and the
   * outcome is unknown.
   */
  private def conflict(
      id: TableIdentifier,
      base: Option[TableVersion],
      change: Change,
      failure: RestFailure
  ): iceberglite.spec.IcebergError = {
    val reason = s"the server responded: ${failure.message}"
    val addsSnapshot = change.updates.exists(_.isInstanceOf[AddSnapshot])
    if (failure.earlierOutcomeUnknown && !addsSnapshot) {
      CommitStateUnknown(name(id), None, reason, None)
    } else if (base.isEmpty && failure.errorType == "AlreadyExistsException") {
      alreadyExists(id, failure)
    } else CommitConflict(name(id), reason)
  }

  private def readCommitted(
      server: RestServer,
      id: TableIdentifier,
      base: Option[TableVersion],
      request: RestRequest,
      response: RestResponse
  ): TableVersion = CommitOutcome.readResponse(name(id)) {
    val responseName = server.client.responseName(request)
    val table = RestResponseJson.table(responseName, response.body)
    val location =
      table.metadataLocation.getOrElse(
        throw InvalidMetadata(responseName, "$.metadata-location", "The field is missing")
      )
    val version = TableVersion(table.metadata, location, base.flatMap(_.io), planner = base.flatMap(_.planner))
    // A commit response contains no storage credentials, so a table with vended credentials is not cached here.
    if (version.io.isEmpty) response.headers.get("etag").foreach(cache.put(id, refsOnly = false, _, version, None))
    version
  }

  /** Commits changes to several tables atomically. */
  def commitAll(changes: Vector[TableChange]): Unit = {
    val server = lazyServer()
    val names = changes.map(c => name(c.id)).mkString(", ")
    val request = RestRequest(
      s"commit to tables $names",
      Endpoint.CommitTransaction,
      server.paths.transaction,
      body = Some(RestRequestJson.commitTransaction(changes.map(c => commitOf(c.id, Some(c.base), c.change)))),
      retryMode = Some(RetryMode.IfUnavailable)
    )
    try {
      CommitOutcome(names, server, request) {
        case r if r.status == 404 && r.isFromCatalog =>
          NotFound(ObjectKind.Table, names, s"The server responded: ${r.message}")
        case r if r.status == 409 && r.earlierOutcomeUnknown =>
          CommitStateUnknown(names, None, r.message, None)
        case r if r.status == 409 => CommitConflict(names, s"the server responded: ${r.message}")
      }(PartialFunction.empty)
      ()
    } finally changes.foreach(c => cache.invalidate(c.id))
  }

  def notFound(id: TableIdentifier): NotFound =
    NotFound(
      ObjectKind.Table,
      name(id),
      s"The REST catalog at ${lazyServer().client.address} has no table with this name"
    )

  private def commitOf(id: TableIdentifier, base: Option[TableVersion], change: Change): TableCommit = TableCommit(
    nameOf(id),
    change.requirements,
    base.fold(change.updates)(b => RequestUpdates(b.metadata, change.updates))
  )

  private def invalidate(id: TableIdentifier): Unit = {
    cache.invalidate(id)
    tokens.remove(id)
    ()
  }

  private def token(id: TableIdentifier): Option[String] = Option(tokens.get(id))

  private def name(id: TableIdentifier): String = s"$catalog.$id"
}

private[catalog] object RestTables {

  /** The header that requests credentials for a table's files. */
  val Delegation: Vector[(String, String)] = Vector("X-Iceberg-Access-Delegation" -> "vended-credentials")
  val TokenKey: String = "token"
  private val FormatVersionKey = "format-version"

  /** The server's settings for a table whose creation is staged. */
  final case class StagedTableSettings(location: String, properties: Map[String, String], io: Option[FileIO])

  def nameOf(id: TableIdentifier): RestRequestJson.Name = RestRequestJson.Name(id.namespace, id.name)
}
