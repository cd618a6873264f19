package iceberglite.catalog.rest

import org.slf4j.LoggerFactory

import iceberglite.scan.ServerPlanner
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.rest.RestResponseJson.{Credential, LoadedTable}
import iceberglite.storage.FileIO
import iceberglite.table.Environment

/** Determines where the scans of tables are planned. */
final private[catalog] class TablePlanning(environment: Environment) {
  import TablePlanning.log

  /**
   * Returns the planner of a table; absent if the client plans the scans. The setting in the configuration of the table
   * takes precedence over the setting of the catalog (REST OpenAPI description: `LoadTableResult`).
   *
   * @param name the name of the table, for messages
   * @param path the path of the table on the server
   * @param io the catalog's access to files
   * @throws Unsupported if the server must plan the scans, but has no endpoint for this
   */
  def of(name: String, path: String, server: RestServer, table: LoadedTable, io: FileIO): Option[ServerPlanner] = {
    val ofTable = RestProperty.ScanPlanning.in(table.config).map(RestSettings.isServer(s"table $name", _))
    val ofCatalog = server.settings.plansByServer
    if (ofTable.contains(false) && ofCatalog) log.warn(
      s"Scans of table $name are planned by the client, because the server requires it; " +
        s"${RestProperty.ScanPlanning.key}=server of the catalog has no effect on this table"
    )
    if (!ofTable.getOrElse(ofCatalog)) None
    else {
      requireEndpoint(ofTable.fold(s"catalog ${server.settings.catalog}")(_ => s"table $name"), server)
      def access(planId: Option[String], credentials: Vector[Credential]): Option[FileIO] =
        if (credentials.isEmpty) None
        else TableAccess.renewed(name, path, server, withCredentials(table, credentials), io, planId).io
      Some(new RestScanPlanning(name, path, server, environment, table.config.get(RestTables.TokenKey), access))
    }
  }

  /** Returns the table with the credentials of a plan, which replace those in the configuration of the table. */
  private def withCredentials(table: LoadedTable, credentials: Vector[Credential]): LoadedTable = {
    val config = VendedCredentials.withoutReplaced(table.config, credentials, table.metadata.location)
    table.copy(config = config, credentials = credentials)
  }

  private def requireEndpoint(owner: String, server: RestServer): Unit =
    if (!server.has(Endpoint.PlanScan)) throw Unsupported(
      s"${RestProperty.ScanPlanning.key}=server of $owner",
      s"The REST catalog at ${server.client.address} does not support ${Endpoint.PlanScan}. Set the property to client"
    )
}

private[catalog] object TablePlanning {
  private val log = LoggerFactory.getLogger("iceberglite.catalog.rest.TablePlanning")
}
