package iceberglite.catalog.rest

import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.IcebergError._
import iceberglite.spec.rest.{RestRequestJson, RestResponseJson}
import iceberglite.spec.update.MetadataUpdate.{AddSchema, SetLocation, SetProperties}
import iceberglite.spec.update.ViewUpdate.AddViewVersion
import iceberglite.table.{TableIdentifier, ViewChange, ViewState}

/** The views of a server. */
final private[catalog] class RestViews(catalog: String, lazyServer: () => RestServer) {

  def exists(id: TableIdentifier): Boolean = {
    val server = lazyServer()
    val endpoint = if (server.has(Endpoint.ViewExists)) Endpoint.ViewExists else Endpoint.LoadView
    server.has(endpoint) && Lookup.find(
      server,
      RestRequest(s"look for view ${name(id)}", endpoint, server.paths.view(id))
    ).isDefined
  }

  def load(id: TableIdentifier): ViewState = {
    val server = lazyServer()
    // A server without the endpoint has no views. The view is reported as missing and not as unsupported, because Spark
    // also looks for a view if a query names a missing table.
    if (!server.has(Endpoint.LoadView)) throw notFound(id)
    val request = RestRequest(s"load view ${name(id)}", Endpoint.LoadView, server.paths.view(id))
    readView(server, request, Lookup.find(server, request).getOrElse(throw notFound(id)))
  }

  /** Commits a change to a view; see [[iceberglite.catalog.ViewCatalog.commitView]]. */
  def commit(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState = {
    change.requirements.foreach(_.check(base.map(_.metadata), name(id)))
    val server = lazyServer()
    val request = if (base.isEmpty) createRequest(server, id, change) else replaceRequest(server, id, change)
    val response = CommitOutcome[RestResponse](name(id), server, request) {
      case r if r.status == 409 && r.earlierOutcomeUnknown =>
        CommitStateUnknown(name(id), None, r.message, None)
      case r if r.status == 409 && base.isEmpty => alreadyExists(id, r)
      case r if r.status == 409 => CommitConflict(name(id), s"the server responded: ${r.message}")
      case r if r.status == 404 && r.isFromCatalog => if (base.isEmpty) noNamespace(id, r) else notFound(id)
    }(PartialFunction.empty).merge
    CommitOutcome.readCreated(name(id))(readView(server, request, response))
  }

  /**
   * Returns the request that creates a view. The server creates the view from the values in the request, and assigns a
   * UUID.
   */
  private def createRequest(server: RestServer, id: TableIdentifier, change: ViewChange): RestRequest = {
    def requirePart[A](what: String)(pick: PartialFunction[Any, A]): A =
      change.updates.collectFirst(pick).getOrElse(
        throw ValidationFailed(s"Cannot create view ${name(id)} without $what")
      )
    val view = RestRequestJson.NewView(
      id.name,
      change.updates.collectFirst { case SetLocation(location) => location },
      requirePart("a schema") { case AddSchema(schema, _) => schema },
      requirePart("a version") { case AddViewVersion(version) => version },
      change.updates.collect { case SetProperties(properties) => properties }.flatten.toMap
    )
    val body = RestRequestJson.createView(view)
    RestRequest(s"create view ${name(id)}", Endpoint.CreateView, server.paths.views(id.namespace), body = Some(body))
  }

  private def replaceRequest(server: RestServer, id: TableIdentifier, change: ViewChange): RestRequest = RestRequest(
    s"replace view ${name(id)}",
    Endpoint.ReplaceView,
    server.paths.view(id),
    body = Some(RestRequestJson.commitView(RestTables.nameOf(id), change.requirements, change.updates))
  )

  /** Registers an existing metadata file as a view; see [[iceberglite.catalog.ViewCatalog.registerView]]. */
  def register(id: TableIdentifier, metadataFile: String): ViewState = {
    val server = lazyServer()
    val request = RestRequest(
      s"register $metadataFile as view ${name(id)}",
      Endpoint.RegisterView,
      server.paths.registerView(id.namespace),
      body = Some(RestRequestJson.register(id.name, metadataFile))
    )
    val response = server.send(request) {
      case r if r.status == 409 => alreadyExists(id, r)
      case r if r.errorType == "NoSuchNamespaceException" => noNamespace(id, r)
    }
    readView(server, request, response)
  }

  private def readView(server: RestServer, request: RestRequest, response: RestResponse): ViewState = {
    val view = RestResponseJson.view(server.client.responseName(request), response.body)
    ViewState(view.metadata, view.metadataLocation)
  }

  def drop(id: TableIdentifier): Boolean = {
    val server = lazyServer()
    Lookup.find(server, RestRequest(s"drop view ${name(id)}", Endpoint.DropView, server.paths.view(id))).isDefined
  }

  def rename(from: TableIdentifier, to: TableIdentifier): Unit = {
    val server = lazyServer()
    val body = RestRequestJson.rename(RestTables.nameOf(from), RestTables.nameOf(to))
    val request =
      RestRequest(s"rename view ${name(from)} to $to", Endpoint.RenameView, server.paths.renameView, body = Some(body))
    server.send(request) {
      case r if r.status == 409 => alreadyExists(to, r)
      case r if r.errorType == "NoSuchViewException" => notFound(from)
      case r if r.status == 404 && r.isFromCatalog => noNamespace(to, r)
    }
    ()
  }

  private def alreadyExists(id: TableIdentifier, failure: RestFailure): AlreadyExists = AlreadyExists(
    ObjectKind.View,
    name(id),
    failure.withMessage("Replace the view, drop it first, or choose another name")
  )

  private def notFound(id: TableIdentifier): IcebergError =
    NotFound(
      ObjectKind.View,
      name(id),
      s"The REST catalog at ${lazyServer().client.address} has no view with this name"
    )

  private def noNamespace(id: TableIdentifier, failure: RestFailure): IcebergError =
    NotFound(
      ObjectKind.Namespace,
      (catalog +: id.namespace).mkString("."),
      s"The server responded: ${failure.message}"
    )

  private def name(id: TableIdentifier): String = s"$catalog.$id"
}
