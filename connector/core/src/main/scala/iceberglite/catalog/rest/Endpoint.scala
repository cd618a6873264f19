package iceberglite.catalog.rest

/**
 * An endpoint of a server (REST OpenAPI description: `paths`).
 *
 * @param path the path as in the OpenAPI description and in a server's list of endpoints, such as
 *   `/v1/{prefix}/namespaces`
 * @param isDefault whether a server that does not list its endpoints has this endpoint
 */
sealed abstract private[catalog] class Endpoint(val method: String, val path: String, val isDefault: Boolean) {

  /** Whether a request may change a table, a view or a namespace. */
  def isChange: Boolean = method == "POST" || method == "DELETE"

  override def toString: String = s"$method $path"
}

private[catalog] object Endpoint {
  private val Namespace = "/v1/{prefix}/namespaces/{namespace}"
  private val TableInNamespace = s"$Namespace/tables/{table}"
  private val ViewInNamespace = s"$Namespace/views/{view}"

  /** An endpoint for planning scans. Its requests create only a plan. */
  sealed abstract class PlanningEndpoint(method: String, path: String) extends Endpoint(method, path, false) {
    override def isChange: Boolean = false
  }

  case object GetConfig extends Endpoint("GET", "/v1/config", true)
  case object ListNamespaces extends Endpoint("GET", "/v1/{prefix}/namespaces", true)
  case object CreateNamespace extends Endpoint("POST", "/v1/{prefix}/namespaces", true)
  case object LoadNamespace extends Endpoint("GET", Namespace, true)
  case object NamespaceExists extends Endpoint("HEAD", Namespace, false)
  case object DropNamespace extends Endpoint("DELETE", Namespace, true)
  case object UpdateProperties extends Endpoint("POST", s"$Namespace/properties", true)
  case object ListTables extends Endpoint("GET", s"$Namespace/tables", true)
  case object CreateTable extends Endpoint("POST", s"$Namespace/tables", true)
  case object RegisterTable extends Endpoint("POST", s"$Namespace/register", true)
  case object LoadTable extends Endpoint("GET", TableInNamespace, true)
  case object TableExists extends Endpoint("HEAD", TableInNamespace, false)
  case object UpdateTable extends Endpoint("POST", TableInNamespace, true)
  case object DropTable extends Endpoint("DELETE", TableInNamespace, true)
  case object ReportMetrics extends Endpoint("POST", s"$TableInNamespace/metrics", true) {
    override def isChange: Boolean = false
  }
  case object LoadCredentials extends Endpoint("GET", s"$TableInNamespace/credentials", false)
  case object PlanScan extends PlanningEndpoint("POST", s"$TableInNamespace/plan")
  case object LoadPlan extends PlanningEndpoint("GET", s"$TableInNamespace/plan/{plan-id}")
  case object CancelPlan extends PlanningEndpoint("DELETE", s"$TableInNamespace/plan/{plan-id}")
  case object FetchTasks extends PlanningEndpoint("POST", s"$TableInNamespace/tasks")
  case object RenameTable extends Endpoint("POST", "/v1/{prefix}/tables/rename", true)
  case object CommitTransaction extends Endpoint("POST", "/v1/{prefix}/transactions/commit", true)
  case object ListViews extends Endpoint("GET", s"$Namespace/views", false)
  case object CreateView extends Endpoint("POST", s"$Namespace/views", false)
  case object LoadView extends Endpoint("GET", ViewInNamespace, false)
  case object ViewExists extends Endpoint("HEAD", ViewInNamespace, false)
  case object ReplaceView extends Endpoint("POST", ViewInNamespace, false)
  case object DropView extends Endpoint("DELETE", ViewInNamespace, false)
  case object RegisterView extends Endpoint("POST", s"$Namespace/register-view", false)
  case object RenameView extends Endpoint("POST", "/v1/{prefix}/views/rename", false)

  val views: Seq[Endpoint] = Seq(ListViews, CreateView, LoadView, ReplaceView, DropView, RenameView)

  val all: Seq[Endpoint] = Seq(
    GetConfig,
    ListNamespaces,
    CreateNamespace,
    LoadNamespace,
    NamespaceExists,
    DropNamespace,
    UpdateProperties,
    ListTables,
    CreateTable,
    RegisterTable,
    LoadTable,
    TableExists,
    UpdateTable,
    DropTable,
    ReportMetrics,
    LoadCredentials,
    PlanScan,
    LoadPlan,
    CancelPlan,
    FetchTasks,
    RenameTable,
    CommitTransaction,
    ViewExists,
    RegisterView
  ) ++ views

  /**
   * Returns the endpoints of a server.
   *
   * @param listed the endpoints in the server's configuration; if absent, the server has the default endpoints
   * @param withViews whether a server that does not list its endpoints also has the endpoints of views, except `HEAD`
   *   and the registration
   */
  def of(listed: Option[Vector[String]], withViews: Boolean): Set[Endpoint] = listed match {
    case Some(lines) =>
      val listedEndpoints = lines.map(_.trim.replaceAll("\\s+", " ")).toSet
      all.filter(e => e == GetConfig || listedEndpoints(e.toString)).toSet
    case None => (all.filter(_.isDefault) ++ (if (withViews) views else Seq.empty)).toSet
  }
}
