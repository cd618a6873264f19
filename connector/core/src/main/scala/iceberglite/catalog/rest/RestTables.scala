package iceberglite.catalog.rest

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.IcebergError._
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.rest.{RestAnswerJson, RestRequestJson}
import iceberglite.spec.rest.RestRequestJson.TableCommit
import iceberglite.spec.update.MetadataUpdate.{AddSnapshot, AssignUuid}
import iceberglite.storage.FileIO
import iceberglite.table._

/**
 * The tables of a server.
 *
 * @param io the catalog's access to files; a table with its own credentials has its own access
 */
final private[catalog] class RestTables(
    catalog: String,
    io: FileIO,
    server: () => RestServer,
    cache: LoadedTables
) {
  import RestTables._

  /** The tokens that the server issued with tables. They authenticate later requests for these tables. */
  private val tokens = new ConcurrentHashMap[TableIdentifier, String]

  /** Loads a table. @return absent if the table does not exist */
  def load(id: TableIdentifier, refsOnly: Boolean): Option[TableVersion] = {
    val at = server()
    val known = cache.known(id, refsOnly)
    val ask = Ask(
      s"load table ${name(id)}",
      Endpoint.LoadTable,
      at.paths.table(id),
      if (refsOnly) Vector("snapshots" -> "refs") else Vector.empty,
      Delegation ++ known.map("If-None-Match" -> _.etag)
    )
    Missing.findOr(at, ask)(unreadableMetadata(id)) match {
      case None =>
        forget(id)
        None
      case Some(Answer(304, _, _)) =>
        Some(known.map(_.version).getOrElse(throw at.client.failed(
          ask.what,
          "it returned 304 for a request without ETag"
        )))
      case Some(answer) => Some(loaded(at, id, ask, answer, refsOnly))
    }
  }

  private def unreadableMetadata(id: TableIdentifier): PartialFunction[Refusal, iceberglite.spec.IcebergError] = {
    case r if r.status == 404 && r.kind == "NotFoundException" =>
      UnreadableFile(name(id), "the metadata of table", s"The server says: ${r.message}")
  }

  private def loaded(at: RestServer, id: TableIdentifier, ask: Ask, answer: Answer, refsOnly: Boolean): TableVersion = {
    val file = at.client.named(ask)
    val table = RestAnswerJson.table(file, answer.body)
    val location = table.metadataLocation.getOrElse(
      throw InvalidMetadata(file, "$.metadata-location", "It is missing, although the table is committed")
    )
    val access = TableAccess.of(table, io)
    val version = TableVersion(table.metadata, location, access.io, isWhole = !refsOnly)
    table.config.get(TokenKey).fold(tokens.remove(id))(tokens.put(id, _))
    answer.headers.get("etag").fold(cache.forget(id))(cache.keep(id, refsOnly, _, version, access.until))
    version
  }

  def exists(id: TableIdentifier): Boolean = {
    val at = server()
    val endpoint = if (at.has(Endpoint.TableExists)) Endpoint.TableExists else Endpoint.LoadTable
    Missing.find(at, Ask(s"look for table ${name(id)}", endpoint, at.paths.table(id))).isDefined
  }

  /**
   * Stages a table on the server, without creating it.
   *
   * @param draft the metadata without the server's settings
   * @param location the location that the user requested
   */
  def staged(id: TableIdentifier, draft: TableMetadata, location: Option[String]): Staged = {
    val at = server()
    val table = RestRequestJson.NewTable(
      id.name,
      location,
      draft.schema,
      draft.spec,
      draft.sortOrder,
      draft.properties + (FormatVersionKey -> draft.formatVersion.toString),
      staged = true
    )
    val ask = Ask(
      s"create table ${name(id)}",
      Endpoint.CreateTable,
      at.paths.tables(id.namespace),
      headers = Delegation,
      body = Some(RestRequestJson.createTable(table)),
      // A staged creation has no effect on the server, so it may be retried.
      repeat = Some(Repeat.Always)
    )
    val answer = at.ask(ask)(notCreated(id))
    val read = RestAnswerJson.table(at.client.named(ask), answer.body)
    Staged(read.metadata.location, read.metadata.properties, TableAccess.of(read, io).io)
  }

  def register(id: TableIdentifier, metadataFile: String): TableVersion = {
    val at = server()
    val ask = Ask(
      s"register $metadataFile as table ${name(id)}",
      Endpoint.RegisterTable,
      at.paths.register(id.namespace),
      headers = Delegation,
      body = Some(RestRequestJson.registerTable(id.name, metadataFile))
    )
    loaded(at, id, ask, at.ask(ask)(notCreated(id)), refsOnly = false)
  }

  private def notCreated(id: TableIdentifier): PartialFunction[Refusal, iceberglite.spec.IcebergError] = {
    case r if r.status == 409 => AlreadyExists("table", name(id), "Drop it first, replace it, or choose another name")
    case r if r.status == 404 && r.isOfCatalog => noNamespace(id, r)
  }

  private def noNamespace(id: TableIdentifier, refusal: Refusal): NotFound = {
    val namespace = (catalog +: id.namespace).mkString(".")
    if (refusal.kind == "NoSuchNamespaceException")
      NotFound("namespace", namespace, "Create it first, or check the name")
    else NotFound("resource", name(id), s"The server says: ${refusal.message}")
  }

  /** Drops a table. @return false if the table does not exist */
  def drop(id: TableIdentifier, purge: Boolean): Boolean = {
    val at = server()
    val ask = Ask(
      s"drop table ${name(id)}",
      Endpoint.DropTable,
      at.paths.table(id),
      // The parameter is set explicitly, because the defaults of servers differ.
      Vector("purgeRequested" -> purge.toString)
    )
    try Missing.find(at, ask.copy(tableToken = token(id))).isDefined
    finally forget(id)
  }

  def rename(from: TableIdentifier, to: TableIdentifier): Unit = {
    val at = server()
    val body = RestRequestJson.rename(nameOf(from), nameOf(to))
    val ask = Ask(s"rename table ${name(from)} to $to", Endpoint.RenameTable, at.paths.renameTable, body = Some(body))
    try {
      at.ask(ask) {
        case r if r.status == 409 => AlreadyExists("table", name(to), "Drop it first or choose another name")
        case r if r.kind == "NoSuchTableException" => missing(from)
        case r if r.status == 404 && r.isOfCatalog => noNamespace(to, r)
      }
      ()
    } finally Seq(from, to).foreach(forget)
  }

  /** Commits; see [[Committer.commit]]. */
  def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    val at = server()
    val body = RestRequestJson.commitTable(commitOf(id, base, change))
    val ask = Ask(
      s"commit to table ${name(id)}",
      Endpoint.UpdateTable,
      at.paths.table(id),
      body = Some(body),
      repeat = Some(Repeat.Guarded),
      tableToken = token(id)
    )
    val answer = CommitOutcome(name(id), at, ask) {
      case r if r.status == 404 && r.isOfCatalog => if (base.isEmpty) noNamespace(id, r) else missing(id)
      case r if r.status == 409 => conflict(id, base, change, r)
    } {
      case r if r.status == 409 && r.inDoubt && createdByUs(id, change) => load(id, refsOnly = false)
    }
    answer.fold(identity, committed(at, id, base, ask, _))
  }

  /** Whether an earlier attempt of this change created the existing table: then, they have the same UUID. */
  private def createdByUs(id: TableIdentifier, change: Change): Boolean = {
    val ours = change.updates.collectFirst { case AssignUuid(uuid) => uuid }
    ours.isDefined && load(id, refsOnly = false).flatMap(_.metadata.uuid) == ours
  }

  /**
   * Returns the error for a conflict. If an earlier attempt may have succeeded, only the id of an added snapshot can
   * show whether it did. Without an added snapshot, the outcome is unknown.
   */
  private def conflict(
      id: TableIdentifier,
      base: Option[TableVersion],
      change: Change,
      refusal: Refusal
  ): iceberglite.spec.IcebergError = {
    val reason = s"the server says: ${refusal.message}"
    val addsSnapshot = change.updates.exists(_.isInstanceOf[AddSnapshot])
    if (refusal.inDoubt && !addsSnapshot) {
      CommitStateUnknown(name(id), CommitOutcome.ServerFile, reason, None)
    } else if (base.isEmpty && refusal.kind == "AlreadyExistsException") {
      AlreadyExists("table", name(id), "Drop it first, replace it, or choose another name")
    } else CommitConflict(name(id), reason)
  }

  private def committed(
      at: RestServer,
      id: TableIdentifier,
      base: Option[TableVersion],
      ask: Ask,
      answer: Answer
  ): TableVersion = CommitOutcome.unreadable(name(id)) {
    val file = at.client.named(ask)
    val table = RestAnswerJson.table(file, answer.body)
    val location = table.metadataLocation.getOrElse(throw InvalidMetadata(file, "$.metadata-location", "It is missing"))
    val version = TableVersion(table.metadata, location, base.flatMap(_.io))
    // A commit response has no storage access: the cached table keeps the access with which it was loaded.
    if (version.io.isEmpty) answer.headers.get("etag").foreach(cache.keep(id, refsOnly = false, _, version, None))
    version
  }

  /** Commits to several tables atomically. */
  def commitAll(changes: Vector[TableChange]): Unit = {
    val at = server()
    val names = changes.map(c => name(c.id)).mkString(", ")
    val ask = Ask(
      s"commit to tables $names",
      Endpoint.CommitTransaction,
      at.paths.transaction,
      body = Some(RestRequestJson.commitTransaction(changes.map(c => commitOf(c.id, Some(c.base), c.change)))),
      repeat = Some(Repeat.Guarded)
    )
    try {
      CommitOutcome(names, at, ask) {
        case r if r.status == 404 && r.isOfCatalog => NotFound("table", names, s"The server says: ${r.message}")
        case r if r.status == 409 && r.inDoubt => CommitStateUnknown(names, CommitOutcome.ServerFile, r.message, None)
        case r if r.status == 409 => CommitConflict(names, s"the server says: ${r.message}")
      }(PartialFunction.empty)
      ()
    } finally changes.foreach(c => forget(c.id))
  }

  def missing(id: TableIdentifier): NotFound =
    NotFound("table", name(id), s"The REST catalog at ${server().client.shown} has none with this name")

  private def commitOf(id: TableIdentifier, base: Option[TableVersion], change: Change): TableCommit = TableCommit(
    nameOf(id),
    change.requirements,
    base.fold(change.updates)(b => SentUpdates(b.metadata, change.updates))
  )

  private def forget(id: TableIdentifier): Unit = {
    cache.forget(id)
    tokens.remove(id)
    ()
  }

  private def token(id: TableIdentifier): Option[String] = Option(tokens.get(id))

  private def name(id: TableIdentifier): String = s"$catalog.$id"
}

private[catalog] object RestTables {

  /** The header that requests credentials for a table's files. */
  private val Delegation = Vector("X-Iceberg-Access-Delegation" -> "vended-credentials")
  private val TokenKey = "token"
  private val FormatVersionKey = "format-version"

  /** The server's settings for a table that is created. */
  final case class Staged(location: String, properties: Map[String, String], io: Option[FileIO])

  def nameOf(id: TableIdentifier): RestRequestJson.Name = RestRequestJson.Name(id.namespace, id.name)
}
