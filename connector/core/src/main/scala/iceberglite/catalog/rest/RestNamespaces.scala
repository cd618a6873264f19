package iceberglite.catalog.rest

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.rest.{RestRequestJson, RestResponseJson}
import iceberglite.table.TableIdentifier

/** The namespaces of a server, and the names of their tables and views. */
final private[catalog] class RestNamespaces(catalog: String, lazyServer: () => RestServer) {

  def list(parent: Vector[String]): Vector[Vector[String]] = {
    val what = if (parent.isEmpty) s"list the namespaces of $catalog" else s"list the namespaces in ${name(parent)}"
    val paths = lazyServer().paths
    val parentParameter = if (parent.isEmpty) Vector.empty else Vector("parent" -> paths.parameter(parent))
    val request = RestRequest(what, Endpoint.ListNamespaces, paths.namespaces, parentParameter)
    readPages(request, parent)(RestResponseJson.namespaces).distinct.sortBy(_.lastOption)
  }

  def tables(namespace: Vector[String]): Vector[TableIdentifier] =
    names(s"list the tables in ${name(namespace)}", Endpoint.ListTables, namespace, _.tables(namespace))

  def views(namespace: Vector[String]): Vector[TableIdentifier] =
    names(s"list the views in ${name(namespace)}", Endpoint.ListViews, namespace, _.views(namespace))

  private def names(
      what: String,
      endpoint: Endpoint,
      namespace: Vector[String],
      path: RestPaths => String
  ): Vector[TableIdentifier] =
    if (namespace.isEmpty) Vector.empty
    else readPages(RestRequest(what, endpoint, path(lazyServer().paths)), namespace)(RestResponseJson.names)
      .map(n => TableIdentifier(n.namespace, n.name)).distinct.sortBy(_.name)

  /** Returns the items of all pages of a listing. Fails if the server repeats a page token. */
  private def readPages[A](
      request: RestRequest,
      parent: Vector[String]
  )(read: (String, Array[Byte]) => RestResponseJson.Page[A]): Vector[A] = {
    val server = lazyServer()
    val size = server.settings.optionalNumber(RestProperty.PageSize, 1)
    @tailrec
    def fetch(token: String, seen: Set[String], items: Vector[A]): Vector[A] = {
      val sizeParameters = size.toVector.flatMap(n => Vector("pageToken" -> token, "pageSize" -> n.toString))
      val pageParameters =
        if (token.isEmpty) sizeParameters else ("pageToken" -> token) +: sizeParameters.filterNot(_._1 == "pageToken")
      val response =
        server.send(request.copy(query = request.query ++ pageParameters)) {
          case r if r.status == 404 && r.isFromCatalog => noNamespace(parent)
        }
      val page = read(server.client.responseName(request), response.body)
      page.next match {
        case None => items ++ page.items
        case Some(next) if seen(next) =>
          throw server.client.storageFailed(
            request.what,
            "the server returned the same page token twice, so the listing would not end"
          )
        case Some(next) => fetch(next, seen + next, items ++ page.items)
      }
    }
    fetch("", Set.empty, Vector.empty)
  }

  def exists(namespace: Vector[String]): Boolean = namespace.isEmpty || {
    val endpoint = if (lazyServer().has(Endpoint.NamespaceExists)) Endpoint.NamespaceExists else Endpoint.LoadNamespace
    val request =
      RestRequest(s"look for namespace ${name(namespace)}", endpoint, lazyServer().paths.namespace(namespace))
    Lookup.find(lazyServer(), request).isDefined
  }

  def load(namespace: Vector[String]): Map[String, String] =
    if (namespace.isEmpty) Map.empty
    else {
      val request = RestRequest(
        s"load namespace ${name(namespace)}",
        Endpoint.LoadNamespace,
        lazyServer().paths.namespace(namespace)
      )
      val response = Lookup.find(lazyServer(), request).getOrElse(throw noNamespace(namespace))
      RestResponseJson.properties(lazyServer().client.responseName(request), response.body)
    }

  def create(namespace: Vector[String], properties: Map[String, String]): Unit = {
    val request = RestRequest(
      s"create namespace ${name(namespace)}",
      Endpoint.CreateNamespace,
      lazyServer().paths.namespaces,
      body = Some(RestRequestJson.createNamespace(namespace, properties))
    )
    lazyServer().send(request) {
      case r if r.status == 409 =>
        AlreadyExists(ObjectKind.Namespace, name(namespace), "Use the existing namespace, or choose another name")
      case r if r.status == 404 && r.isFromCatalog => noNamespace(namespace.dropRight(1))
    }
    ()
  }

  def alter(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit = {
    val request = RestRequest(
      s"change the properties of namespace ${name(namespace)}",
      Endpoint.UpdateProperties,
      lazyServer().paths.properties(namespace),
      body = Some(RestRequestJson.updateProperties(remove, set))
    )
    lazyServer().send(request) { case r if r.status == 404 && r.isFromCatalog => noNamespace(namespace) }
    ()
  }

  def drop(namespace: Vector[String]): Boolean = namespace.nonEmpty && {
    val request =
      RestRequest(s"drop namespace ${name(namespace)}", Endpoint.DropNamespace, lazyServer().paths.namespace(namespace))
    Lookup.findWithErrors(lazyServer(), request) {
      case r if r.status == 409 || r.errorType == "NamespaceNotEmptyException" =>
        val children = Try(tables(namespace).map(_.name) ++ list(namespace).map(_.last)).getOrElse(Vector.empty)
        val contents = if (children.isEmpty) s" ${r.message}" else s" It contains ${children.sorted.mkString(", ")}"
        ValidationFailed(s"Cannot drop namespace ${name(namespace)}: it is not empty.$contents")
    }.isDefined
  }

  def noNamespace(namespace: Vector[String]): NotFound =
    NotFound(ObjectKind.Namespace, name(namespace), "Create the namespace, or check the name with SHOW NAMESPACES")

  private def name(namespace: Vector[String]): String = (catalog +: namespace).mkString(".")
}
