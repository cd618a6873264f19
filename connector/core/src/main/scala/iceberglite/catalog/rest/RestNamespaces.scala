package iceberglite.catalog.rest

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, ValidationFailed}
import iceberglite.spec.rest.{RestAnswerJson, RestRequestJson}
import iceberglite.table.TableIdentifier

/** The namespaces of a server, and the names of their tables and views. */
final private[catalog] class RestNamespaces(catalog: String, server: () => RestServer) {

  def list(parent: Vector[String]): Vector[Vector[String]] = {
    val what = if (parent.isEmpty) s"list the namespaces of $catalog" else s"list the namespaces in ${name(parent)}"
    val paths = server().paths
    val below = if (parent.isEmpty) Vector.empty else Vector("parent" -> paths.parameter(parent))
    pages(Ask(what, Endpoint.ListNamespaces, paths.namespaces, below), parent)(RestAnswerJson.namespaces)
      .distinct.sortBy(_.lastOption)
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
    else pages(Ask(what, endpoint, path(server().paths)), namespace)(RestAnswerJson.names)
      .map(n => TableIdentifier(n.namespace, n.name)).distinct.sortBy(_.name)

  /** Returns the items of all pages of a listing. Fails if the server repeats a page token. */
  private def pages[A](
      ask: Ask,
      in: Vector[String]
  )(read: (String, Array[Byte]) => RestAnswerJson.Page[A]): Vector[A] = {
    val at = server()
    val size = at.settings.optionalNumber(RestProperty.PageSize, 1)
    @tailrec
    def from(token: String, seen: Set[String], items: Vector[A]): Vector[A] = {
      val paging = size.toVector.flatMap(n => Vector("pageToken" -> token, "pageSize" -> n.toString))
      val paged = if (token.isEmpty) paging else ("pageToken" -> token) +: paging.filterNot(_._1 == "pageToken")
      val answer =
        at.ask(ask.copy(query = ask.query ++ paged)) { case r if r.status == 404 && r.isOfCatalog => missing(in) }
      val page = read(at.client.named(ask), answer.body)
      page.next match {
        case None => items ++ page.items
        case Some(next) if seen(next) =>
          throw at.client.failed(ask.what, "it returns pages without end; its paging is broken")
        case Some(next) => from(next, seen + next, items ++ page.items)
      }
    }
    from("", Set.empty, Vector.empty)
  }

  def exists(namespace: Vector[String]): Boolean = namespace.isEmpty || {
    val endpoint = if (server().has(Endpoint.NamespaceExists)) Endpoint.NamespaceExists else Endpoint.LoadNamespace
    val ask = Ask(s"look for namespace ${name(namespace)}", endpoint, server().paths.namespace(namespace))
    Missing.find(server(), ask).isDefined
  }

  def load(namespace: Vector[String]): Map[String, String] =
    if (namespace.isEmpty) Map.empty
    else {
      val ask = Ask(s"load namespace ${name(namespace)}", Endpoint.LoadNamespace, server().paths.namespace(namespace))
      val answer = Missing.find(server(), ask).getOrElse(throw missing(namespace))
      RestAnswerJson.properties(server().client.named(ask), answer.body)
    }

  def create(namespace: Vector[String], properties: Map[String, String]): Unit = {
    val ask = Ask(
      s"create namespace ${name(namespace)}",
      Endpoint.CreateNamespace,
      server().paths.namespaces,
      body = Some(RestRequestJson.createNamespace(namespace, properties))
    )
    server().ask(ask) {
      case r if r.status == 409 =>
        AlreadyExists("namespace", name(namespace), "Use the existing one, or choose another name")
      case r if r.status == 404 && r.isOfCatalog => missing(namespace.dropRight(1))
    }
    ()
  }

  def alter(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit = {
    val ask = Ask(
      s"change the properties of namespace ${name(namespace)}",
      Endpoint.UpdateProperties,
      server().paths.properties(namespace),
      body = Some(RestRequestJson.updateProperties(remove, set)),
      repeat = Some(Repeat.Guarded)
    )
    server().ask(ask) { case r if r.status == 404 && r.isOfCatalog => missing(namespace) }
    ()
  }

  def drop(namespace: Vector[String]): Boolean = namespace.nonEmpty && {
    val ask = Ask(s"drop namespace ${name(namespace)}", Endpoint.DropNamespace, server().paths.namespace(namespace))
    Missing.findOr(server(), ask) {
      case r if r.status == 409 || r.kind == "NamespaceNotEmptyException" =>
        val inside = Try(tables(namespace).map(_.name) ++ list(namespace).map(_.last)).getOrElse(Vector.empty)
        val holds = if (inside.isEmpty) s" ${r.message}" else s" It holds ${inside.sorted.mkString(", ")}"
        ValidationFailed(s"Cannot drop namespace ${name(namespace)}: it is not empty.$holds")
    }.isDefined
  }

  def missing(namespace: Vector[String]): NotFound =
    NotFound("namespace", name(namespace), "Create it first, or check the name with SHOW NAMESPACES")

  private def name(namespace: Vector[String]): String = (catalog +: namespace).mkString(".")
}
