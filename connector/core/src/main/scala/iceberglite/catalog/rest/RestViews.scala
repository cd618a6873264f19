package iceberglite.catalog.rest

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.spec.rest.{RestAnswerJson, RestRequestJson}
import iceberglite.spec.update.MetadataUpdate.{AddSchema, SetLocation, SetProperties}
import iceberglite.spec.update.ViewUpdate.AddViewVersion
import iceberglite.table.{TableIdentifier, ViewChange, ViewState}

/** The views of a server. */
final private[catalog] class RestViews(catalog: String, server: () => RestServer) {

  def exists(id: TableIdentifier): Boolean = {
    val at = server()
    val endpoint = if (at.has(Endpoint.ViewExists)) Endpoint.ViewExists else Endpoint.LoadView
    at.has(endpoint) && Missing.find(at, Ask(s"look for view ${name(id)}", endpoint, at.paths.view(id))).isDefined
  }

  def load(id: TableIdentifier): ViewState = {
    val at = server()
    val ask = Ask(s"load view ${name(id)}", Endpoint.LoadView, at.paths.view(id))
    read(at, ask, Missing.find(at, ask).getOrElse(throw missing(id)))
  }

  /** Commits; see [[iceberglite.catalog.ViewCatalog.commitView]]. */
  def commit(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState = {
    change.requirements.foreach(_.check(base.map(_.metadata), name(id)))
    val at = server()
    val ask = if (base.isEmpty) creation(at, id, change) else replacement(at, id, change)
    val answer = CommitOutcome[Answer](name(id), at, ask) {
      case r if r.status == 409 && r.inDoubt => CommitStateUnknown(name(id), CommitOutcome.ServerFile, r.message, None)
      case r if r.status == 409 && base.isEmpty => taken(id)
      case r if r.status == 409 => CommitConflict(name(id), s"the server says: ${r.message}")
      case r if r.status == 404 && r.isOfCatalog => if (base.isEmpty) noNamespace(id, r) else missing(id)
    }(PartialFunction.empty).merge
    CommitOutcome.unreadable(name(id))(read(at, ask, answer))
  }

  /** Returns the request that creates a view. The server builds the view from its parts, and assigns a UUID. */
  private def creation(at: RestServer, id: TableIdentifier, change: ViewChange): Ask = {
    def part[A](what: String)(pick: PartialFunction[Any, A]): A =
      change.updates.collectFirst(pick).getOrElse(
        throw ValidationFailed(s"Cannot create view ${name(id)} without $what")
      )
    val view = RestRequestJson.NewView(
      id.name,
      change.updates.collectFirst { case SetLocation(location) => location },
      part("a schema") { case AddSchema(schema, _) => schema },
      part("a version") { case AddViewVersion(version) => version },
      change.updates.collect { case SetProperties(properties) => properties }.flatten.toMap
    )
    val body = RestRequestJson.createView(view)
    Ask(s"create view ${name(id)}", Endpoint.CreateView, at.paths.views(id.namespace), body = Some(body))
  }

  private def replacement(at: RestServer, id: TableIdentifier, change: ViewChange): Ask = Ask(
    s"replace view ${name(id)}",
    Endpoint.ReplaceView,
    at.paths.view(id),
    body = Some(RestRequestJson.commitView(RestTables.nameOf(id), change.requirements, change.updates))
  )

  private def read(at: RestServer, ask: Ask, answer: Answer): ViewState = {
    val view = RestAnswerJson.view(at.client.named(ask), answer.body)
    ViewState(view.metadata, view.metadataLocation)
  }

  def drop(id: TableIdentifier): Boolean = {
    val at = server()
    Missing.find(at, Ask(s"drop view ${name(id)}", Endpoint.DropView, at.paths.view(id))).isDefined
  }

  def rename(from: TableIdentifier, to: TableIdentifier): Unit = {
    val at = server()
    val body = RestRequestJson.rename(RestTables.nameOf(from), RestTables.nameOf(to))
    val ask = Ask(s"rename view ${name(from)} to $to", Endpoint.RenameView, at.paths.renameView, body = Some(body))
    at.ask(ask) {
      case r if r.status == 409 => taken(to)
      case r if r.kind == "NoSuchViewException" => missing(from)
      case r if r.status == 404 && r.isOfCatalog => noNamespace(to, r)
    }
    ()
  }

  private def taken(id: TableIdentifier): AlreadyExists =
    AlreadyExists("view", name(id), "Replace it, drop it first, or choose another name")

  private def missing(id: TableIdentifier): IcebergError =
    NotFound("view", name(id), s"The REST catalog at ${server().client.shown} has none with this name")

  private def noNamespace(id: TableIdentifier, refusal: Refusal): IcebergError =
    NotFound("namespace", (catalog +: id.namespace).mkString("."), s"The server says: ${refusal.message}")

  private def name(id: TableIdentifier): String = s"$catalog.$id"
}
